// Payloads that would execute if they were interpreted as markup.

const RUNS = 'window.claudeMemRan=1;alert(1)';
const TAGS = ['img src=x onerror', 'svg onload', 'body onload', 'details open ontoggle', 'video src=x onerror', 'audio src=x onerror', 'input autofocus onfocus', 'select autofocus onfocus', 'textarea autofocus onfocus', 'marquee onstart', 'iframe onload', 'object data=x onerror', 'embed src=x onload', 'link rel=stylesheet href=x onerror', 'style onload', 'button popovertarget=x onclick', 'a href=# autofocus tabindex=1 onfocus', 'div onpointerover', 'math onclick', 'xss contenteditable autofocus onfocus'];
const BARE = [
  `<script>${RUNS}</script>`, `<SCRIPT SRC=//127.0.0.1:9/x></SCRIPT>`, `<scr<script>ipt>${RUNS}</scr</script>ipt>`, `<script\x20type="text/javascript">${RUNS};</script>`, `<script\x0A>${RUNS}</script>`,
  `<a href="javascript:${RUNS}">x</a>`, `javascript:${RUNS}`, `JaVaScRiPt:${RUNS}`, `java\tscript:${RUNS}`, `data:text/html,<script>${RUNS}</script>`, `vbscript:msgbox(1)`,
  `<iframe srcdoc="<script>${RUNS}</script>">`, `<iframe src="javascript:${RUNS}">`, `<form action="javascript:${RUNS}"><button autofocus>`, `<base href="//127.0.0.1:9/">`, `<meta http-equiv=refresh content="0;javascript:${RUNS}">`,
  `<svg><script>${RUNS}</script></svg>`, `<svg><animate onbegin=${RUNS} attributeName=x dur=1s>`, `<svg><a xlink:href="javascript:${RUNS}"><text y=9>x</text></a></svg>`, `<svg><use href="data:image/svg+xml,<svg id=x onload=${RUNS}>#x"/></svg>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=${RUNS}>`, `<noscript><p title="</noscript><img src=x onerror=${RUNS}>">`, `<template><script>${RUNS}</script></template>`, `<!--><img src=x onerror=${RUNS}>-->`, `<![CDATA[<img src=x onerror=${RUNS}>]]>`,
  `{{constructor.constructor('${RUNS}')()}}`, `\${${RUNS}}`, `#{${RUNS}}`, `<%= ${RUNS} %>`, `&lt;script&gt;${RUNS}&lt;/script&gt;`, `&#60;img src=x onerror=${RUNS}&#62;`, `%3Cscript%3E${RUNS}%3C/script%3E`, `\u003cimg src=x onerror=${RUNS}\u003e`,
  `<style>@import '//127.0.0.1:9/x';</style>`, `<div style="background:url(javascript:${RUNS})">`, `<link rel=import href="data:text/html,<script>${RUNS}</script>">`, `<img src="x\` \`<script>${RUNS}</script>"\` \`>`, `<img/src='x'/onerror=${RUNS}//`, `<img src=x:x onerror\n=${RUNS}>`, `\u202e<img src=x onerror=${RUNS}>`,
];
/** Ways out of the place that text may stand in. */
const OUT = ['', '">', "'>", '</textarea>', '</title></style></script>', ']]>--></template>'];

/** So many of them, no two alike. */
export function payloads(many) {
  const tags = TAGS.map((tag) => `<${tag}="${RUNS}">`);
  const all = OUT.flatMap((out) => [...BARE, ...tags].map((text) => out + text));
  return [...new Set(all)].slice(0, many);
}
