/** A way to put text into HTML; what a browser shows of it is measured, not written down. */
interface Trick {
  name: string;
  html: (text: string) => string;
}

const inBlock =
  (css: string, rest = '') =>
  (text: string) =>
    `<style>${css}</style><div class="t">${text}</div>${rest}`;
const styled = (style: string) => (text: string) => `<div style="${style}">${text}</div>`;

/** Ways to hide text, and such that look like hiding and show it. */
export const HIDING_TRICKS: readonly Trick[] = [
  { name: 'plain text', html: (text) => `<p>${text}</p>` },
  { name: 'display none', html: styled('display:none') },
  { name: 'display none as important', html: styled('DISPLAY : none !important') },
  { name: 'a class in a style sheet', html: inBlock('.t{display:none}') },
  {
    name: 'a child selector',
    html: (text) => `<style>td > span{display:none}</style><table><tr><td><span>${text}</span></td></tr></table>`,
  },
  {
    name: 'an attribute selector',
    html: (text) => `<style>[data-x="1"]{display:none}</style><p data-x="1">${text}</p>`,
  },
  { name: 'an :is selector', html: inBlock(':is(.t,.u){display:none}') },
  {
    name: 'a nested rule',
    html: (text) => `<style>.o{color:#000;& .t{display:none}}</style><div class="o"><p class="t">${text}</p></div>`,
  },
  { name: 'a layer', html: inBlock('@layer a{.t{display:none}}') },
  { name: '@supports', html: inBlock('@supports (display:grid){.t{display:none}}') },
  { name: 'a media query that holds', html: inBlock('@media screen{.t{display:none}}') },
  { name: 'a media query of wide screens', html: inBlock('@media (min-width:300px){.t{display:none}}') },
  { name: 'a media query of print', html: inBlock('@media print{.t{display:none}}') },
  { name: 'a rule that another undoes', html: inBlock('.t{display:none}.t{display:block}') },
  {
    name: 'a rule that the style undoes',
    html: (text) => `<style>.t{display:none}</style><div class="t" style="display:block">${text}</div>`,
  },
  {
    name: 'an important rule against the style',
    html: (text) => `<style>.t{display:none!important}</style><div class="t" style="display:block">${text}</div>`,
  },
  { name: 'an escaped property', html: styled('d\\69splay:none') },
  { name: 'a comment in the style', html: styled('display/**/:/**/none') },
  { name: 'a custom property', html: inBlock(':root{--v:none}.t{display:var(--v)}') },
  { name: 'visibility hidden', html: styled('visibility:hidden') },
  {
    name: 'visibility shown again within',
    html: (text) => `<div style="visibility:hidden">a<b style="visibility:visible">${text}</b></div>`,
  },
  { name: 'opacity 0', html: styled('opacity:0') },
  { name: 'opacity 0.5', html: styled('opacity:.5') },
  {
    name: 'opacity within opacity',
    html: (text) => `<div style="opacity:.2"><div style="opacity:.2"><p style="opacity:.2">${text}</p></div></div>`,
  },
  { name: 'filter opacity', html: styled('filter:opacity(0%)') },
  { name: 'font size 0', html: styled('font-size:0') },
  { name: 'font size 1 pixel', html: styled('font-size:1px') },
  { name: 'font size by calc', html: styled('font-size:calc(2px - 2px)') },
  {
    name: 'font size by percent within percent',
    html: (text) => `<div style="font-size:10%"><p style="font-size:10%">${text}</p></div>`,
  },
  { name: 'font shorthand', html: styled('font:0/0 a') },
  { name: 'white on white', html: styled('color:#fff') },
  { name: 'nearly white on white', html: styled('color:rgb(254,254,253)') },
  { name: 'color by hsl', html: styled('color:hsl(0 0% 100%)') },
  { name: 'color by oklch', html: styled('color:oklch(1 0 0)') },
  { name: 'transparent color', html: styled('color:rgba(0,0,0,0)') },
  { name: 'transparent fill', html: styled('-webkit-text-fill-color:transparent') },
  {
    name: 'color of the background by inheritance',
    html: (text) => `<table bgcolor="#223344" style="color:#223344"><tr><td><p>${text}</p></td></tr></table>`,
  },
  {
    name: 'color of the background by a class',
    html: (text) => `<style>.d{background:#102030}.d p{color:#102031}</style><div class="d"><p>${text}</p></div>`,
  },
  { name: 'currentcolor background', html: styled('color:#333;background:currentcolor') },
  { name: 'white on dark', html: styled('color:#fff;background:#000') },
  { name: 'black font on black body', html: (text) => `<body bgcolor="black" text="black"><p>${text}</p></body>` },
  { name: 'text off screen', html: styled('position:absolute;left:-9999px') },
  { name: 'text off screen by margin', html: styled('margin-left:-3000px') },
  { name: 'text far below', html: styled('text-indent:-9999px;white-space:nowrap;overflow:hidden') },
  { name: 'translate away', html: styled('transform:translateX(-200vw)') },
  { name: 'scale 0', html: styled('transform:scale(0)') },
  { name: 'rotate by 90 degrees about y', html: styled('transform:rotateY(90deg)') },
  { name: 'height 0 with hidden overflow', html: styled('height:0;overflow:hidden') },
  { name: 'height 0 without hidden overflow', html: styled('height:0') },
  { name: 'max-height 0 with hidden overflow', html: styled('max-height:0;overflow:hidden') },
  {
    name: 'a wrapper of one pixel',
    html: (text) =>
      `<div style="width:1px;height:1px;overflow:hidden"><div style="width:400px"><p>${text}</p></div></div>`,
  },
  { name: 'a padded text in a short box', html: styled('height:20px;overflow:hidden;padding-top:0;line-height:200px') },
  { name: 'clip-path', html: styled('clip-path:inset(50%)') },
  { name: 'clip', html: styled('position:absolute;clip:rect(0,0,0,0)') },
  { name: 'a mask', html: styled('-webkit-mask-image:linear-gradient(transparent,transparent)') },
  {
    name: 'covered by another element',
    html: (text) =>
      `<div style="position:relative"><p style="margin:0;height:20px">${text}</p><div style="position:absolute;inset:0;background:#fff"></div></div>`,
  },
  {
    name: 'behind its parent',
    html: (text) =>
      `<div style="background:#fff;position:relative;z-index:0"><div style="background:#fff"><p style="position:relative;z-index:-1">${text}</p></div></div>`,
  },
  { name: 'the attribute hidden', html: (text) => `<p hidden>${text}</p>` },
  { name: 'hidden until found', html: (text) => `<p hidden="until-found">${text}</p>` },
  { name: 'closed details', html: (text) => `<details><summary>More</summary><p>${text}</p></details>` },
  { name: 'the summary of closed details', html: (text) => `<details><summary>${text}</summary><p>x</p></details>` },
  { name: 'a closed dialog', html: (text) => `<dialog>${text}</dialog>` },
  { name: 'a popover', html: (text) => `<div popover>${text}</div>` },
  { name: 'a hidden input', html: (text) => `<input type="hidden" value="${text}">` },
  { name: 'a submit button', html: (text) => `<input type="submit" value="${text}">` },
  { name: 'an option', html: (text) => `<select><option>a</option><option>${text}</option></select>` },
  { name: 'a datalist', html: (text) => `<datalist><option>${text}</option></datalist>` },
  { name: 'a template', html: (text) => `<template><p>${text}</p></template>` },
  { name: 'a script', html: (text) => `<script type="text/plain">${text}</script>` },
  { name: 'noscript', html: (text) => `<noscript><p>${text}</p></noscript>` },
  { name: 'a title', html: (text) => `<title>${text}</title>` },
  { name: 'svg text', html: (text) => `<svg width="400" height="30"><text x="0" y="20">${text}</text></svg>` },
  { name: 'svg title', html: (text) => `<svg width="400" height="30"><title>${text}</title></svg>` },
  {
    name: 'svg defs',
    html: (text) => `<svg width="400" height="30"><defs><text x="0" y="20">${text}</text></defs></svg>`,
  },
  {
    name: 'svg text without a fill',
    html: (text) => `<svg width="400" height="30"><text x="0" y="20" fill="none">${text}</text></svg>`,
  },
  { name: 'a comment', html: (text) => `<!-- ${text} -->` },
  { name: 'a conditional comment of Outlook', html: (text) => `<!--[if mso]><p>${text}</p><![endif]-->` },
  { name: 'a conditional comment for others', html: (text) => `<!--[if !mso]><!--><p>${text}</p><!--<![endif]-->` },
  {
    name: 'an alt text',
    html: (text) =>
      `<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==" alt="${text}">`,
  },
  {
    name: 'a table of one pixel',
    html: (text) => `<table style="font-size:1px;line-height:1px;width:1px"><tr><td>${text}</td></tr></table>`,
  },
  { name: 'an iframe', html: (text) => `<iframe>${text}</iframe>` },
  { name: 'an object', html: (text) => `<object data="data:,x" width="0" height="0">${text}</object>` },
  {
    name: 'content of a style sheet',
    html: (text) => `<style>.t::after{content:"${text}";display:none}</style><p class="t">a</p>`,
  },
  {
    name: 'a collapsed row',
    html: (text) => `<table><tr style="visibility:collapse"><td>${text}</td></tr><tr><td>a</td></tr></table>`,
  },
  { name: 'hidden content visibility', html: styled('content-visibility:hidden') },
  { name: 'letters upon each other', html: styled('letter-spacing:-20px') },
  { name: 'zoom near 0', html: styled('zoom:0.01') },
  { name: 'display contents', html: styled('display:contents') },
  { name: 'a mark', html: (text) => `<mark>${text}</mark>` },
  {
    name: 'an element over it',
    html: (text) =>
      `<div style="position:relative"><p>${text}</p><div style="position:absolute;top:0;left:0;width:100%;height:100%;background:#fff">Hi</div></div>`,
  },
  {
    name: 'an element over it by classes',
    html: (text) =>
      `<style>.k{position:relative}.o{position:absolute;inset:0;background-color:#eee}</style><div class="k">${text}<i class="o"></i></div>`,
  },
  {
    name: 'an element over it that is translucent',
    html: (text) =>
      `<div style="position:relative"><p>${text}</p><div style="position:absolute;inset:0;background:rgba(0,0,0,.2)"></div></div>`,
  },
  {
    name: 'an element below it',
    html: (text) =>
      `<div style="position:relative"><p style="position:relative;z-index:2">${text}</p><div style="position:absolute;inset:0;background:#fff;z-index:1"></div></div>`,
  },
  {
    name: 'an element over a corner of it',
    html: (text) =>
      `<div style="position:relative"><p>${text}</p><div style="position:absolute;top:0;left:0;width:8px;height:8px;background:#fff"></div></div>`,
  },
  {
    name: 'an element over its neighbor',
    html: (text) =>
      `<p>${text}</p><div style="position:relative">a<div style="position:absolute;inset:0;background:#fff"></div></div>`,
  },
];
