// Making elements. Text from tables and people enters through textContent and attributes only.

const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
};

const key = (name) => make("kbd", { text: name, "aria-hidden": "true" });

const ROOMS = {};

const roomOf = (state) => ROOMS[state.data.room];

const percentOf = (share) => Math.round(share * 100);

// What is asked, and which model the shares come from.
const questionHead = (question, words) => make("div", { class: "asked" }, make("h2", { text: words }),
  make("p", { class: "quiet small model", text: question.model,
    title: "How likely each label is by this model. Its number is the last line of the answer log that it has learnt." }));
