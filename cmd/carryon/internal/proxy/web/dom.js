// Building and updating the page. Every text becomes a text node: nothing that
// anybody wrote is ever parsed as HTML.

const svgNamespace = "http://www.w3.org/2000/svg";

// h returns an element. Attributes that are null or false are left out; children
// are elements, texts, and lists of both.
function h(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

// s is h for SVG.
function s(tag, attributes, ...children) {
	return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === null || value === undefined || value === false) continue;
		element.setAttribute(name, value === true ? "" : value);
	}
	const shown = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");
	element.append(...shown.map((child) => (child instanceof Node ? child : visible(String(child)))));
	return element;
}

// unseen finds characters that nobody sees, and those that turn around the text beside them.
// Not among them are joiners, which emoji and some scripts need, signs that enclose the
// digits behind them, which are seen, and the tags of a flag, such as that of England.
const unseen = /(\p{Extended_Pictographic}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f})|(?![\u200c\u200d\t\n\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

// visible replaces what nobody sees. Lines may end as in any text.
const visible = (text) => text.replace(/\r\n?/g, "\n").replace(unseen, (_, flag) => flag ?? "\ufffd");

// show makes the content of an element that of new nodes, and keeps what is the
// same: focus, selections and open details stay.
function show(element, ...children) {
	morphChildren(element, h("div", null, children));
}

function morphChildren(old, fresh) {
	const wanted = [...fresh.childNodes];
	wanted.forEach((node, i) => {
		const now = old.childNodes[i];
		if (!now) old.append(node);
		else if (now.nodeType !== node.nodeType || now.nodeName !== node.nodeName || now.dataset?.key !== node.dataset?.key) now.replaceWith(node);
		else if (node.nodeType === Node.TEXT_NODE) {
			if (now.data !== node.data) now.data = node.data;
		} else morph(now, node);
	});
	while (old.childNodes.length > wanted.length) old.lastChild.remove();
}

function morph(old, fresh) {
	for (const { name } of [...old.attributes]) {
		if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
	}
	for (const { name, value } of fresh.attributes) {
		if (old.getAttribute(name) !== value) old.setAttribute(name, value);
	}
	morphChildren(old, fresh);
}

// arrange makes elements the children of parent, in this order, and moves as few
// as possible. Whatever has the focus keeps it.
function arrange(parent, elements) {
	const focused = document.activeElement;
	const wanted = new Set(elements);
	for (const child of [...parent.children]) {
		if (!wanted.has(child)) child.remove();
	}
	let next = parent.firstElementChild;
	for (const element of elements) {
		if (element === next) next = next.nextElementSibling;
		else parent.insertBefore(element, next);
	}
	if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

const portion = 40; // rows of a list that are drawn at once

// showRows makes the first of some items the rows of a list: most pages are read at the
// top. More are drawn when their end comes into view, or all on demand. What is drawn
// stays, unless the reader is at the top. rowOf returns the row that an item has already.
function showRows(list, items, rowOf, draw) {
	let most = list.most ?? portion;
	if (scrollY > 0) most = Math.max(most, 1 + items.findLastIndex((item) => rowOf(item)?.parentElement === list));
	const rows = items.slice(0, most).map(draw);
	if (items.length > most) rows.push(lastRowOf(list, items.length - most));
	arrange(list, rows);
}

// lastRowOf returns the last row of a list of which not everything is drawn.
function lastRowOf(list, left) {
	list.end ??= h("p", { class: "end empty" });
	show(list.end, h("button", { type: "button" }, `Show ${n(left)} more`));
	ends.unobserve(list.end); // and observe reports again whether it is in view
	ends.observe(list.end);
	return list.end;
}

const ends = new IntersectionObserver((all) => {
	for (const { isIntersecting, target } of all) if (isIntersecting && target.isConnected) showMoreRows(target.parentElement);
}, { rootMargin: "1000px" });

// anchored runs a change of the list that leaves what the reader looks at where it
// is: the element with the focus, or else the first one in view, unless the top of
// the page is in view.
function anchored(list, change) {
	const anchor = anchorIn(list);
	const before = anchor?.getBoundingClientRect().top;
	change();
	if (anchor?.isConnected) {
		const moved = anchor.getBoundingClientRect().top - before;
		if (moved !== 0) window.scrollBy({ top: moved, behavior: "instant" });
	}
}

function anchorIn(list) {
	const focused = list.contains(document.activeElement) ? document.activeElement : null;
	if (focused) {
		const { top, bottom } = focused.getBoundingClientRect();
		if (bottom > 0 && top < innerHeight) return focused;
	}
	if (scrollY === 0) return null;
	return [...list.querySelectorAll("summary")].find((one) => one.getBoundingClientRect().bottom > 0 && one.checkVisibility());
}
