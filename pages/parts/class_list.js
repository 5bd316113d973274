// Every class of the project, sent when the page is opened and kept for the card, which searches it
// and hears of every new list: a search may be open.
export default function (component) {
  const { project, classes } = component.data;
  window.__winnowClasses ??= new Map();
  window.__winnowClasses.set(project, classes.map(([label, about]) => ({ label, about, sought: label.toLowerCase() })));
  window.dispatchEvent(new Event("winnow-classes"));
}
