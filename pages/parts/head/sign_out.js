// @ts-check
// Ends this browser's sign-in.

/** @import { Component } from "../card/types.js" */

/** @param {Component<null>} component */
export default function signOut({ parentElement }) {
  const button = parentElement.querySelector("button");
  if (!button) return;
  button.onclick = async () => {
    const answer = await fetch("signout", { method: "POST" });
    if (answer.ok) window.location.assign("signin");
    else button.textContent = "Still signed in: the disk may be full. Try again";
  };
}
