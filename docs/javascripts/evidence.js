// The board's filters, kept in the address so that a filtered view can be linked, and folds that open for print.
// Without script every row shows and folds open by hand.
(() => {
  const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
  const press = (button, pressed) => button.setAttribute("aria-pressed", String(pressed));

  const filter = (board) => {
    const rows = [...board.querySelectorAll("tbody tr")];
    const buttons = [...board.querySelectorAll("button[data-group]")];
    const count = board.querySelector(".ev-count");

    const picked = () => {
      const groups = new Map();
      for (const { dataset } of buttons.filter(isPressed)) {
        groups.set(dataset.group, [...(groups.get(dataset.group) ?? []), dataset.value]);
      }
      return groups;
    };

    const clear = () => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "ev-clear", textContent: "Show all" });
      return button;
    };

    // Or within a group, and between groups.
    const apply = () => {
      const groups = picked();
      let shown = 0;
      for (const row of rows) {
        row.hidden = ![...groups].every(([group, values]) => values.includes(row.dataset[group]));
        shown += !row.hidden;
      }
      count.replaceChildren(groups.size ? `${shown} of ${rows.length} claims ` : `${rows.length} claims`);
      if (groups.size) count.append(clear());
    };

    const remember = () => {
      const groups = [...picked()].map(([group, values]) => [group, values.join(",")]);
      const hash = groups.length ? `#${new URLSearchParams(groups)}` : "";
      history.replaceState(null, "", location.pathname + location.search + hash);
    };

    board.addEventListener("click", (event) => {
      const button = event.target.closest(".ev-filters button");
      if (!button) return;
      if (button.dataset.group) press(button, !isPressed(button));
      else for (const other of buttons) press(other, false);
      apply();
      remember();
    });

    for (const [group, values] of new URLSearchParams(location.hash.slice(1))) {
      for (const button of buttons) {
        if (button.dataset.group === group && values.split(",").includes(button.dataset.value)) press(button, true);
      }
    }
    board.querySelector(".ev-filters").hidden = false;
    apply();
  };

  document.querySelectorAll(".ev-board").forEach(filter);

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.ev-fold:not([open])")];
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });
})();
