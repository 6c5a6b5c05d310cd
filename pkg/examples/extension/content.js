// A content script asks the background, which all pages share: each page that loads a model of its own holds it once more.
const PAIR = ["She plays chess in the park", "He plays football in the park", ["the place", "the game"]];

chrome.runtime.sendMessage(PAIR).then((results) => {
  const output = document.querySelector("output") ?? document.body.appendChild(document.createElement("output"));
  output.textContent = results.error ?? results.map(({ condition, rating }) => `${condition}: ${rating.toFixed(1)} of 5`).join("\n");
});
