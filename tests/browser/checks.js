// What no rule of axe-core looks for: text and pictures of which a part can be seen nowhere.
window.dpassayChecks = (() => {
  const SLACK = 1.5; // pixels: borders and rounded sizes

  const path = (node) => {
    const parts = [];
    for (let each = node; each && each !== document.body; each = each.parentElement) {
      const name = each.localName + (each.id ? `#${each.id}` : "");
      const first = [...each.classList].slice(0, 1).map((word) => `.${word}`);
      parts.unshift(name + first.join(""));
      if (each.id) break;
    }
    return parts.slice(-4).join(" > ");
  };

  // Text for screen readers only: a box of a pixel, or one that is clipped away as a whole.
  const unseenOnPurpose = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const style = getComputedStyle(each);
      const box = each.getBoundingClientRect();
      if (style.clipPath.startsWith("inset(50%") || style.clipPath === "inset(100%)") return true;
      if (style.position === "absolute" && box.width <= 1 && box.height <= 1) return true;
    }
    return false;
  };

  const visible = (element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    !unseenOnPurpose(element);

  const inner = (element) => {
    const box = element.getBoundingClientRect();
    if (element.namespaceURI !== "http://www.w3.org/1999/xhtml") return box;
    const left = box.left + element.clientLeft;
    const top = box.top + element.clientTop;
    return { left, top, right: left + element.clientWidth, bottom: top + element.clientHeight };
  };

  // The box on the screen that a clip-path="url(#…)" leaves of an SVG element.
  const clipOf = (element) => {
    const found = /url\("?#([^")]+)"?\)/.exec(getComputedStyle(element).clipPath);
    const shape = found && document.getElementById(found[1])?.firstElementChild;
    if (!shape || !shape.getBBox || !element.getScreenCTM) return null;
    const box = shape.getBBox();
    const matrix = element.getScreenCTM();
    const one = new DOMPoint(box.x, box.y).matrixTransform(matrix);
    const two = new DOMPoint(box.x + box.width, box.y + box.height).matrixTransform(matrix);
    return {
      left: Math.min(one.x, two.x), right: Math.max(one.x, two.x),
      top: Math.min(one.y, two.y), bottom: Math.max(one.y, two.y),
    };
  };

  const clips = (word) => word === "hidden" || word === "clip";
  const scrolls = (word) => word === "auto" || word === "scroll";

  // Why a rectangle inside an element cannot be seen as a whole, or "".
  const lost = (rectangle, element) => {
    const box = { left: rectangle.left, right: rectangle.right,
                  top: rectangle.top, bottom: rectangle.bottom };
    const high = SLACK + (box.bottom - box.top) / 4; // the box of a font is higher than letters
    let floating = "static";
    for (let each = element; each && each !== document.documentElement;
         each = each.parentElement) {
      const style = getComputedStyle(each);
      const cut = clipOf(each);
      if (cut && (box.left < cut.left - SLACK || box.right > cut.right + SLACK ||
                  box.top < cut.top - high || box.bottom > cut.bottom + high)) {
        return `clipped by the clip-path of ${path(each)}`;
      }
      const escapes = floating === "absolute" && style.position === "static";
      if (floating === "fixed") break;
      if (style.position !== "static" || floating === "static") floating = style.position;
      if (each === document.body || style.display.startsWith("inline") &&
          style.display === "inline" && each.localName !== "svg" || escapes) continue;
      const hold = inner(each);
      const wide = box.left < hold.left - SLACK || box.right > hold.right + SLACK;
      const tall = box.top < hold.top - high || box.bottom > hold.bottom + high;
      if (["td", "th"].includes(each.localName) && wide) return `runs out of ${path(each)}`;
      if (clips(style.overflowX) && wide || clips(style.overflowY) && tall) {
        return `cut off by ${path(each)}`;
      }
      if (scrolls(style.overflowX)) {
        if (box.left + each.scrollLeft < hold.left - SLACK) return `left of ${path(each)}`;
        box.left = Math.max(box.left, hold.left);
        box.right = Math.min(box.right, hold.right);
      }
      if (scrolls(style.overflowY)) {
        if (box.top + each.scrollTop < hold.top - high) return `above ${path(each)}`;
        box.top = Math.max(box.top, hold.top);
        box.bottom = Math.min(box.bottom, hold.bottom);
      }
    }
    if (box.left + window.scrollX < -SLACK) return "left of the page";
    if (box.top + window.scrollY < -high) return "above the page";
    if (box.right > window.innerWidth + SLACK) return "right of the page";
    return "";
  };

  const rectangles = (text) => {
    const element = text.parentElement;
    if (element.closest("svg")) return [element.getBoundingClientRect()];
    const range = document.createRange();
    range.selectNodeContents(text);
    return [...range.getClientRects()];
  };

  const clipped = () => {
    const found = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const element = text.parentElement;
      if (!text.data.trim() || element.closest("style, script, title, desc, defs")) continue;
      if (!visible(element)) continue;
      for (const box of rectangles(text)) {
        const why = box.width && box.height ? lost(box, element) : "";
        if (why) found.add(`"${text.data.trim().slice(0, 40)}" in ${path(element)}: ${why}`);
      }
    }
    for (const picture of document.querySelectorAll("img, svg, canvas")) {
      if (picture.parentElement.closest("svg") || !visible(picture)) continue;
      const why = lost(picture.getBoundingClientRect(), picture.parentElement);
      if (why) found.add(`${path(picture)}: ${why}`);
    }
    // what a style sheet writes (::before) is in no text, but makes its box too small
    for (const box of document.body.querySelectorAll("*")) {
      if (box.closest("svg") || !visible(box) || !box.clientWidth) continue;
      const style = getComputedStyle(box);
      if (clips(style.overflowX) && box.scrollWidth > box.clientWidth + SLACK ||
          clips(style.overflowY) && box.scrollHeight > box.clientHeight + SLACK) {
        found.add(`${path(box)}: more in it than it shows`);
      }
    }
    return [...found];
  };

  // What makes the page itself wider than the window; the innermost elements.
  const sideways = () => {
    const root = document.scrollingElement;
    if (root.scrollWidth <= window.innerWidth) return [];
    const wide = [...document.body.querySelectorAll("*")].filter((each) => {
      const box = each.getBoundingClientRect();
      if (!box.width || box.right + window.scrollX <= window.innerWidth) return false;
      for (let holder = each.parentElement; holder !== document.documentElement;
           holder = holder.parentElement) {
        if (getComputedStyle(holder).overflowX !== "visible") return false;
      }
      return true;
    });
    const found = wide.filter((each) => !wide.some((other) => each !== other &&
                                                              each.contains(other)));
    const by = `${root.scrollWidth} px in ${window.innerWidth}`;
    return [...new Set(found.map((each) => `${path(each)}: makes the page wider, ${by}`)),
            ...(found.length ? [] : [`the page is wider than the window: ${by}`])];
  };

  // What is folded, and left out of a print by `display: none`, is meant not to be there.
  const leftOut = (element) => {
    for (let each = element.closest("details") && element; each; each = each.parentElement) {
      if (getComputedStyle(each).display === "none") return true;
    }
    return false;
  };

  // A mark at the end of the last cell of every row of every table: numbers of those marked, and
  // of those that are left out. For a page as it is printed.
  const markLastCells = () => {
    const rows = [...document.querySelectorAll("tr")];
    const printed = rows.filter((row) => !leftOut(row));
    printed.forEach((row, number) => {
      const mark = document.createElement("span");
      mark.textContent = `Q${number}Z`;
      // no wider than nothing: it lies over the end of what stands before it
      mark.style.cssText = "display: inline-block; width: 0; direction: rtl; font-size: 2px; " +
        "letter-spacing: 0; white-space: nowrap";
      row.lastElementChild.append(mark);
    });
    return [printed.length, rows.length - printed.length];
  };

  // Contrast of the letters in pictures, which axe-core leaves out: WCAG 2, success criterion 1.4.3.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const channels = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return { rgb: [red, green, blue], alpha: alpha / 255 };
  };
  const over = (top, alpha, below) => top.map((each, k) => alpha * each + (1 - alpha) * below[k]);
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((each) => {
      const share = each / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const layer = channels(getComputedStyle(each).backgroundColor);
      layers.unshift(layer);
      if (layer.alpha === 1) break;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const canvasColour = channels("Canvas").rgb;
    const start = dark ? canvasColour : [255, 255, 255];
    return layers.reduce((below, layer) => over(layer.rgb, layer.alpha, below), start);
  };
  const opacity = (element) => {
    let share = 1;
    for (let each = element; each; each = each.parentElement) {
      share *= Number(getComputedStyle(each).opacity);
    }
    return share;
  };

  const faint = () => {
    const found = new Set();
    for (const text of document.querySelectorAll("svg text")) {
      if (!text.textContent.trim() || !visible(text)) continue;
      const below = behind(text.closest("svg"));
      const style = getComputedStyle(text);
      const fill = channels(style.fill);
      const share = fill.alpha * Number(style.fillOpacity) * opacity(text);
      const [low, high] = [luminance(below), luminance(over(fill.rgb, share, below))].sort(
        (one, other) => one - other);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < 4.5) {
        found.add(`"${text.textContent.trim()}" in ${path(text)}: contrast ${ratio.toFixed(2)}`);
      }
    }
    return [...found];
  };

  const headings = () =>
    [...document.querySelectorAll("h1, h2, h3, h4, h5, h6, caption, figcaption")]
      .filter((each) => !unseenOnPurpose(each) && !leftOut(each))
      .map((each) => each.textContent);

  return { clipped, faint, sideways, markLastCells, headings };
})();
