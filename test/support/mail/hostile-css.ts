/**
 * Mail that tries with CSS to load something, to run something, to leave its frame or to learn something, by what it tries. `canary` is
 * the base of a server that shall never hear of them, without a slash.
 */
export function hostileCss(canary: string): [name: string, html: string][] {
  const sheet = (css: string, html = '<p class=x id=y>a<a href="https://e.test/">b</a></p><ul><li>c</ul>') =>
    `<style>${css}</style>${html}`;
  const inline = (style: string) => `<p style="${style}">a</p>`;
  const url = (name: string) => `${canary}/css-${name}`;
  return [
    ['import, quoted', sheet(`@import "${url('import1')}";`)],
    ['import, url', sheet(`@import url(${url('import2')}) screen;`)],
    ['import, escaped', sheet(`@\\69mport "${url('import3')}";@i\\6d port url('${url('import4')}');`)],
    ['import, after a comment', sheet(`@/**/import "${url('import5')}";@import/**/"${url('import6')}";`)],
    ['import, layer and supports', sheet(`@import url(${url('import7')}) layer(a) supports(display:grid);`)],
    ['import, upper case', sheet(`@IMPORT "${url('import8')}";`)],
    ['import, in a media attribute', `<style media='all{}@import "${url('import9')}";'>p{color:red}</style><p>a</p>`],
    [
      'charset and namespace',
      sheet(`@charset "utf-7";@namespace url(${url('ns')});@namespace x url(${url('ns2')});x|p{color:red}`),
    ],
    ['url', sheet(`p{background:url(${url('url1')})}p{background-image:url("${url('url2')}")}`)],
    [
      'url, escaped',
      sheet(
        `p{background:\\75rl(${url('url3')});background:u\\72 l(${url('url4')});background:\\000075\\000072\\00006c(${url('url5')})}`,
      ),
    ],
    ['url, upper case', sheet(`p{BACKGROUND:URL(${url('url6')})}`)],
    ['url, in comments', sheet(`p{background:/**/url(/**/${url('url7')}/**/);background:ur/**/l(${url('url8')})}`)],
    ['url, unclosed', sheet(`p{background:url(${url('url9')}`)],
    ['url, unclosed string', sheet(`p{background:url("${url('url10')}`)],
    ['url, bad string', sheet(`p{background:url('a\nb');color:red;background:url(${url('url11')})}`)],
    ['url, with modifiers', sheet(`p{background:url("${url('url12')}" crossorigin(anonymous))}`)],
    [
      'attribute selectors',
      sheet(`[href^="https"]{background:url(${url('attr1')})}p[class$=x]{list-style-image:url(${url('attr2')})}`),
    ],
    [
      'image-set',
      sheet(`p{background:image-set("${url('set1')}" 1x);background:-webkit-image-set(url(${url('set2')}) 1x)}`),
    ],
    [
      'cross-fade',
      sheet(
        `p{background:cross-fade(url(${url('fade1')}),url(${url('fade2')}),50%);background:-webkit-cross-fade(url(${url('fade3')}),url(${url('fade4')}),.5)}`,
      ),
    ],
    ['src', sheet(`p{background:src("${url('src')}")}`)],
    [
      'image and paint',
      sheet(
        `p{background:image("${url('image')}");background:paint(x);background:element(#y);background:-moz-element(#y)}`,
      ),
    ],
    ['var', sheet(`p{--x:url(${url('var1')});background:var(--x)}`)],
    ['var with a fallback', sheet(`p{background:var(--y,url(${url('var2')}))}`)],
    [
      'property',
      sheet(`@property --z{syntax:"<image>";inherits:true;initial-value:url(${url('var3')})}p{background:var(--z)}`),
    ],
    ['env and attr', sheet(`p{background:env(x,url(${url('env')}));background:attr(class url);content:attr(class)}`)],
    [
      'if and functions',
      sheet(`@function --f(){result:url(${url('fn')})}p{background:--f();background:if(else:url(${url('if')}))}`),
    ],
    ['font-face', sheet(`@font-face{font-family:f;src:url(${url('font1')}),local(x)}p{font-family:f}`)],
    [
      'font-face by unicode range',
      sheet(`@font-face{font-family:g;src:url(${url('font2')});unicode-range:U+0061}p{font-family:g}`),
    ],
    ['layer', sheet(`@layer a{p{background:url(${url('layer1')})}}@layer b,c;`)],
    [
      'container',
      sheet(`@container (min-width:1px){p{background:url(${url('container')})}}p{container-type:inline-size}`),
    ],
    [
      'supports',
      sheet(
        `@supports (display:grid){p{background:url(${url('supports1')})}}@supports not (x:url(${url('supports2')})){a{}}`,
      ),
    ],
    [
      'scope and starting-style',
      sheet(
        `@scope (p) to (a){:scope{background:url(${url('scope')})}}@starting-style{p{background:url(${url('start')})}}`,
      ),
    ],
    [
      'nested at-rules',
      sheet(
        `@media all{@media screen{@layer a{@supports(color:red){@media all{p{background:url(${url('nest1')})}}}}}}`,
      ),
    ],
    [
      'nested rules',
      sheet(
        `p{color:red;&:hover,&{background:url(${url('nest2')})}a{background:url(${url('nest3')})}@media all{background:url(${url('nest4')})}}`,
      ),
    ],
    [
      'page and counter-style',
      sheet(
        `@page{background:url(${url('page')})}@counter-style x{system:cyclic;symbols:url(${url('symbol')});suffix:" "}li{list-style:x}`,
      ),
    ],
    ['cursor', sheet(`p{cursor:url(${url('cursor')}),auto}`)],
    ['list-style', sheet(`li{list-style:url(${url('list1')});list-style-image:url(${url('list2')})}`)],
    [
      'content',
      sheet(
        `p::before{content:url(${url('content1')})}p:after{content:"a" url(${url('content2')}) / "b"}p{content:image-set("${url('content3')}" 1x)}`,
      ),
    ],
    ['counters', sheet(`p{counter-reset:n 5}p::after{content:counter(n) counters(n,".") open-quote}`)],
    [
      'border-image and mask',
      sheet(
        `p{border:1px solid;border-image:url(${url('border')}) 1;-webkit-mask:url(${url('mask1')});mask-image:url(${url('mask2')})}`,
      ),
    ],
    [
      'filter and clip-path',
      sheet(
        `p{filter:url(${url('filter1')}#a);backdrop-filter:url(${url('filter2')}#b);clip-path:url(${url('clip')}#c)}`,
      ),
    ],
    [
      'shape-outside and offset-path',
      sheet(
        `p{float:left;shape-outside:url(${url('shape')});offset-path:url(${url('offset')}#a);fill:url(${url('fill')}#b);marker:url(${url('marker')}#c)}`,
      ),
    ],
    [
      'expression',
      sheet(`p{width:expression(alert(1));w\\69dth:e\\78pression(alert(1));width:exp/**/ression(alert(1))}`),
    ],
    [
      'behavior and -moz-binding',
      sheet(
        `p{behavior:url(${url('behavior')});-moz-binding:url(${url('binding')}#x);-ms-behavior:url(${url('behavior2')})}`,
      ),
    ],
    ['javascript: in CSS', sheet(`p{background:url(javascript:alert(1));list-style:url("java\\script:alert(1)")}`)],
    [
      'data: in CSS',
      sheet(
        `p{background:url(data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%3E%3Cimage%20href=%22${url('data')}%22/%3E%3C/svg%3E)}`,
      ),
    ],
    ['end of style', `<style>p{font-family:"</style><img src=x onerror=alert(1)>"}</style><p>a</p>`],
    [
      'end of style, escaped',
      sheet(
        `p{font-family:"\\3c/style\\3e\\3cimg src=x onerror=alert(1)\\3e";content:"\\00003c/style><script>alert(1)</script>"}`,
      ),
    ],
    [
      'end of style, in a selector',
      sheet(
        `.\\3c\\2fstyle\\3e\\3cscript\\3e alert\\28 1\\29{color:red}[class="\\3c/style>"]{color:red}#\\3c img{color:red}`,
      ),
    ],
    [
      'end of style, in a media query',
      `<style media="</style><img src=x onerror=alert(1)>">p{color:red}</style><style>@media \\3c/style\\3e{p{color:red}}</style>`,
    ],
    ['style in noscript', `<noscript><style></noscript><img src=x onerror=alert(1)></style>`],
    [
      'style in svg',
      `<svg><style>&lt;img src=x onerror=alert(1)&gt;p{background:url(${url('svg')})}</style></svg><p>a</p>`,
    ],
    ['style in math', `<math><style><!--</style><img src=x onerror=alert(1)>--></style></math>`],
    [
      'style, select and template',
      `<select><style></select><img src=x onerror=alert(1)></style></select><template><style>p{background:url(${url('template')})}</style></template>`,
    ],
    [
      'style in a comment',
      `<!--><style>p{background:url(${url('comment')})}</style>--><style><!-- p{background:url(${url('cdo')})} --></style><p>a</p>`,
    ],
    [
      'style in an attribute that ends it',
      `<p style="color:red;&quot;&gt;&lt;img src=x onerror=alert(1)&gt;;font-family:'&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'">a</p>`,
    ],
    ['position fixed', sheet('p{position:fixed;inset:0;z-index:2147483647;background:red}')],
    [
      'position, escaped',
      sheet('p{\\70osition:fixed;position:f\\69xed;position:/**/fixed;position:-webkit-sticky;position:sticky}'),
    ],
    [
      'position absolute',
      sheet('p{position:absolute;top:-5000px;left:-5000px;width:20000px;height:20000px;z-index:99999999999}'),
    ],
    ['position, important', inline('position:fixed!important;z-index:2147483647!important;top:0!important')],
    [
      'animation of an overlay',
      sheet(
        '@keyframes k{from{position:fixed;transform:translate(-500px)}to{inset:0}}p{animation:k 1s infinite;transition:all 1s}',
      ),
    ],
    [
      'transform and perspective',
      sheet('p{transform:scale(9999);perspective:1px;will-change:transform;zoom:99;contain:none}'),
    ],
    [
      'anchor positioning and popover',
      sheet('p{position-anchor:--a;inset-area:all;anchor-name:--a;top:anchor(bottom);overlay:auto}'),
    ],
    ['visited', sheet(`a:visited{background:url(${url('visited')});color:rgb(1,2,3)}`)],
    [
      'has, target and is',
      sheet(
        `p:has(a:visited){background:url(${url('has')})}:target{background:url(${url('target')})}:is(p,a){background:url(${url('is')})}`,
      ),
    ],
    [
      'text fragments and highlights',
      sheet(
        `::target-text{background:url(${url('text')})}::highlight(x){color:red}::selection{background:url(${url('selection')})}`,
      ),
    ],
    ['calc bomb', sheet(`p{width:${'calc('.repeat(2_000)}1px${')'.repeat(2_000)};height:calc(1px*1e308*1e308)}`)],
    ['min and max bomb', inline(`width:${'min(1px,max(2px,'.repeat(300)}1px${'))'.repeat(300)}`)],
    ['deep nesting', sheet(`${'@media all{'.repeat(3_000)}p{color:red}`)],
    [
      'deep selectors',
      sheet(`${':not('.repeat(2_000)}p${')'.repeat(2_000)}{color:red}${'p '.repeat(3_000)}{color:red}`),
    ],
    ['many selectors', sheet(`${'*>*~*+*,'.repeat(30_000)}p{color:red}`)],
    ['many braces', sheet(`${'{'.repeat(50_000)}${'}'.repeat(50_000)}p{background:url(${url('braces')})}`)],
    [
      'brackets that hide a rule',
      sheet(`p{color:[}{(;}a{background:url(${url('hidden1')})}}b{x:"}a{background:url(${url('hidden2')})}`),
    ],
    [
      'null and control characters',
      sheet(
        `p{back\0ground:url(${url('null')});b\\0ackground:url(${url('null2')});background\f:\furl(${url('feed')})}`,
      ),
    ],
    [
      'our own names',
      sheet(
        '.postroom-quoted,.POSTROOM-quoted,.\\70ostroom-notice,#postroom-x{display:none}',
        '<p class="postroom-notice a POSTROOM-quoted" id=postroom-x>a</p>',
      ),
    ],
    [
      'root',
      sheet(
        `:root{--a:url(${url('root')});background:url(${url('root2')})}html{background-image:url(${url('root3')})}body{background:url(${url('root4')})}`,
        '<body>a',
      ),
    ],
    [
      'link and import in head',
      `<head><link rel=stylesheet href="${url('link')}"><style>@import '${url('head')}'</style></head><body>a</body>`,
    ],
    [
      'style with a type',
      `<style type=text/less>p{background:url(${url('less')})}</style><style type="text/css; x">@import "${url('type')}";</style><style lang=x scoped nonce=a>p{background:url(${url('scoped')})}</style><p>a</p>`,
    ],
    ['huge sheets', sheet(`${'p{color:red}'.repeat(40_000)}p{background:url(${url('huge')})}`)],
  ];
}
