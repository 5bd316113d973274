// @ts-check
// Tags that let a browser install Winnow as an app. Streamlit's document has no place for them, so they are
// added to its head.

const COLOUR = "#0f6b5e";

export function offerInstalling() {
  if (document.querySelector("link[rel=manifest]")) return;
  const address = (/** @type {string} */ name) => new URL(`app/${name}`, document.baseURI).href;
  const manifest = document.createElement("link");
  // The manifest requires sign-in, so the request sends the cookie.
  Object.assign(manifest, { rel: "manifest", crossOrigin: "use-credentials", href: address("manifest.webmanifest") });
  const icon = document.createElement("link");
  Object.assign(icon, { rel: "apple-touch-icon", href: address("icon-192.png") });
  const colour = document.createElement("meta");
  Object.assign(colour, { name: "theme-color", content: COLOUR });
  document.head.append(manifest, icon, colour);
}
