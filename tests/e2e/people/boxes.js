// Boxes that stick out of their row, their container or the window, and boxes that are larger than their
// line. Evaluates to a function that gives a list of texts, which is empty on a page that is laid out well.
// Positions are rounded by the browser, so a pixel counts as nothing.

(() => {
  const SLACK = 1;
  /** The most that an icon may be higher than a line of the text beside it. */
  const ICON_LINES = 1.5;
  /** Elements that may be wider than they show; everything else scrolls up and down alone. */
  const SIDEWAYS = ".scroll, .selection, .extracted, pre";
  const ROWS = "[role=row], li, tr, header, footer, .tools";

  const describe = (element) => {
    const name = element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 30);
    const classes = (element.getAttribute("class") ?? "").trim().replace(/\s+/g, ".");
    return `${element.localName}${classes && `.${classes}`}${name && ` “${name}”`}`;
  };
  const round = (box) => `[${[box.left, box.top, box.right, box.bottom].map(Math.round)}]`;
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: false })
    && getComputedStyle(element).clipPath === "none";
  const exceeds = (box, around, axis) => (axis === "x"
    ? box.left < around.left - SLACK || box.right > around.right + SLACK
    : box.top < around.top - SLACK || box.bottom > around.bottom + SLACK);
  const window_ = () => ({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });

  /** Returns how a container limits its content: `scroll`, `cut`, or an empty text if it does not. */
  const limit = (style, axis) => {
    const overflow = axis === "x" ? style.overflowX : style.overflowY;
    if (overflow === "auto" || overflow === "scroll") return "scroll";
    return overflow === "visible" ? "" : "cut";
  };

  /** Follows a box outward, along one axis, to what contains it. */
  function leaves(box, parent, axis, isText) {
    for (let around = parent; around && around !== document.body; around = around.parentElement) {
      const style = getComputedStyle(around);
      const at = around.getBoundingClientRect();
      const kind = limit(style, axis);
      if (kind === "scroll") return "";
      const isOut = exceeds(box, at, axis);
      if (kind === "cut") {
        // Text that ends in an ellipsis is cut on purpose.
        const mayEnd = axis === "x" && isText && style.textOverflow === "ellipsis";
        return isOut && !mayEnd ? `is cut by ${describe(around)} ${round(at)}` : "";
      }
      if (isOut && around.matches(ROWS)) return `sticks out of ${describe(around)} ${round(at)}`;
      if (isOut && isText && style.display !== "inline" && style.display !== "contents" && axis === "x") {
        return `runs out of ${describe(around)} ${round(at)}`;
      }
      if (style.position === "fixed" || around.matches("dialog")) break;
    }
    return exceeds(box, window_(), axis) ? `sticks out of the window ${round(window_())}` : "";
  }

  function* boxesOf(element) {
    if (element.getClientRects().length > 0) yield [element.getBoundingClientRect(), element.parentElement, false];
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      yield [range.getBoundingClientRect(), element, true];
    }
  }

  function iconFault(icon) {
    const box = icon.getBoundingClientRect();
    const [width, height] = ["width", "height"].map((name) => Number(icon.getAttribute(name)));
    if (Math.abs(box.width - width) > SLACK || Math.abs(box.height - height) > SLACK) {
      return `is ${Math.round(box.width)}×${Math.round(box.height)}, not ${width}×${height}`;
    }
    const line = parseFloat(getComputedStyle(icon.parentElement).lineHeight);
    return box.height > ICON_LINES * line ? `is ${Math.round(box.height)} high in a line of ${line}` : "";
  }

  /** Says how far something scrolls sideways that must not. */
  function sideways(element) {
    if (limit(getComputedStyle(element), "x") !== "scroll" || element.matches(SIDEWAYS)) return "";
    const more = element.scrollWidth - element.clientWidth;
    return more > SLACK ? `scrolls ${more} sideways` : "";
  }

  return () => {
    const dialogs = document.querySelectorAll("dialog:modal");
    const root = dialogs[dialogs.length - 1] ?? document.body;
    const faults = [];
    const said = (element, box, fault) => fault && faults.push(`${describe(element)} ${round(box)} ${fault}`);
    if (exceeds(root.getBoundingClientRect(), window_(), "x")) said(root, root.getBoundingClientRect(), "is wider than the window");
    for (const element of [root, ...root.querySelectorAll("*")]) {
      if (!isShown(element) || element.closest("svg, [popover]") !== (element.matches("svg") ? element : null)) continue;
      said(element, element.getBoundingClientRect(), sideways(element));
      if (element === root) continue;
      for (const [box, parent, isText] of boxesOf(element)) {
        const isInline = isText || getComputedStyle(element).display === "inline";
        for (const axis of ["x", "y"]) said(element, box, leaves(box, parent, axis, isInline));
      }
      if (element.matches("svg") && !element.closest(".empty-picture")) said(element, element.getBoundingClientRect(), iconFault(element));
    }
    return faults;
  };
})()
