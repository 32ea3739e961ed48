// Shows only the operations that contain every word of the search, in the reference and in the
// contents.
const searchField = document.querySelector("#search input");
const operations = [...document.querySelectorAll("details.op")].map((element) => ({
  element,
  id: element.querySelector("[id]").id,
  words: element.textContent.toLowerCase(),
}));

function search() {
  const words = searchField.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { element, id, words: own } of operations) {
    const isFound = words.every((word) => own.includes(word));
    element.hidden = !isFound;
    count += Number(isFound);
    const link = document.querySelector(`nav a[href="#${id}"]`);
    if (link) link.parentElement.hidden = !isFound;
  }
  for (const section of document.querySelectorAll("main section")) {
    section.hidden = !section.querySelector("details.op:not([hidden])");
  }
  document.querySelector("#found").textContent =
    words.length === 0 ? "" : `${count} of ${operations.length} operations`;
}

document.querySelector(".tools").hidden = false;
searchField.addEventListener("input", search);
// A link to an operation that the search hides shows it again.
addEventListener("hashchange", () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest("[hidden]")) return;
  searchField.value = "";
  search();
  target.closest("details.op").open = true;
  target.scrollIntoView();
});
