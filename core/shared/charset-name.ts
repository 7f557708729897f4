import iconv from 'iconv-lite';
import charsets from 'libmime/lib/charset.js';
import { LRUCache } from 'lru-cache';
import { isSevenBitCharset } from './seven-bit-charsets.ts';
import { isSingleByteCharset } from './single-byte-charsets.ts';

/**
 * Returns the name by which decodeCharset knows a charset, whatever spelling the message has: IANA names and their aliases, code page
 * numbers, Microsoft's numbers of font charsets, and names with quotes, comments or other parameters around them. Null when it is unknown.
 */
export function findCharset(label: string): string | null {
  if (label.length > MAX_LABEL_LENGTH) return null;
  const known = found.get(label);
  if (known !== undefined) return known.name;
  const name = resolve(label);
  found.set(label, { name });
  return name;
}

const MAX_LABEL_LENGTH = 100;
/** Names by label. */
const found = new LRUCache<string, { name: string | null }>({ max: 1_000 });

function resolve(label: string): string | null {
  const lower = label.toLowerCase().trim();
  const parts = lower
    .replace(/^[\s"'<=]*(?:charset\s*=[\s"']*)*/, '')
    .split(/[\s"';,()<>?*]/, 1)
    .join('');
  const plain = parts.replace(/^_+|[_.:-]+$/g, '');
  for (const candidate of [plain, plain.replace(/^(?:x-|cs(?=[a-z]))+/, ''), plain.replace(/:\d{4}$/, '')]) {
    const name = byName(candidate);
    if (name !== null) return name;
  }
  // `iso-8859-1-windows-3.1-latin-1`, `windows-1252http-equivcontent-type`.
  const start = /^(?:iso-8859-\d{1,2}|windows-125\d|utf-8|us-ascii|gb18030)/.exec(plain)?.[0];
  return start === undefined || start === plain ? null : byName(start);
}

function byName(name: string): string | null {
  const key = name.replace(/[^0-9a-z]/g, '');
  if (key === '') return null;
  const alias = ALIASES.get(key) ?? key.replace(/^(?:ibm|cp|ccsid|codepage|windows|win|ms|x)?0*(?=\d{3,5}$)/, 'cp');
  const target = ALIASES.get(alias) ?? alias;
  if (target === 'utf8' || target === 'ascii' || isSevenBitCharset(target) || isSingleByteCharset(target))
    return target;
  for (const candidate of [target, name]) {
    const normal = charsets.normalizeCharset(candidate);
    if (candidate !== '' && iconv.encodingExists(normal)) return isAscii(normal) ? 'ascii' : normal;
  }
  return null;
}

function isAscii(name: string): boolean {
  return /^(?:us-?)?ascii$/i.test(name);
}

/** Names without separators, in lower case, that iconv-lite lacks: first the name to use, then its aliases. */
const TABLE = `
utf8 unicode11utf8 utf8mb4 utf8mb3 utf8n utf8bom utf8mac utf8unicode ansiutf8 wtf8 cesu8 65001 cp65001 utf utf08 8utf
ascii usascii ansix341968 ansix341986 iso646us isoir6 iso646irv1991 cp367 ibm367 us 20127 cp20127 invariant 7bit 8bit unknown8bit binary none default unknown xunknown userdefined xuserdefined usaascii asc ascii7 ascii8 iso646irv1983 isoir2 iso646basic1983 ref
utf16 unicode11 iso10646unicodelatin1 csunicode11 iso10646ucs2 ucs2 iso10646 csunicode unicode utf16bom 1200 cp1200 utf16le16
utf16be unicodefffe unicodebig 1201 cp1201 ucs2be
utf16le unicodelittle unicodefeff ucs2le
utf32 iso10646ucs4 ucs4 csucs4 ucs4be
utf32le 12000 cp12000 ucs4le
utf32be 12001 cp12001
utf7 unicode11utf7 unicode20utf7 csunicode11utf7 unicode11utf7 65000 cp65000 rfc1642
windows1252 0 1 2 ansi cp1252 1004 windowslatin1 winlatin1 xansi westerneuropean western latin1windows iso88591windows31latin1 iso88591windows30latin1 ansix31101983 isoir99 csat naplps cp819 819 28591 iso10646unicodelatin1 iso8859 iso88591l 8859 csisolatin1 isolatin1 latin isoir100 iso885911987 iso885911998
windows1250 238 winlatin2 eastern iso88592windowslatin2
windows1251 204 ansi1251 cyrillicwindows
windows1253 161 iso88597windows
windows1254 162 iso88599windowslatin5 28599 iso885991989
windows1255 177
windows1256 178
windows1257 186
windows1258 163
cp874 222 tis6200 tis62025330 tis6202529 cstis620 iso885911 thai8 ibmthai 874 cp9066
cp932 128 932 shiftjis sjis csshiftjis mskanji windows31j cswindows31j ms932 windows932 cp943 943 cp942 shiftjis2004 shiftjisx0213 shiftjisopen macjapanese xmacjapanese jis0208 pck
cp949 129 130 949 ksc56011987 ksc56011989 ksc5601 csksc56011987 uhc euckr cseuckr windows949 ms949 korean ksc56011992 isoir149 johab ksx1001 hangul 51949 cp51949 970 cp970 mackorean xmackorean
gb18030 134 936 gb2312 csgb2312 gbk cp936 ms936 windows936 gb231280 isoir58 chinese euccn eucgb2312cn gb180302000 gb180302005 gb180302022 csgbk 54936 cp54936 cp1386 1386 csiso58gb231280 simplifiedchinese gb 51936 cp51936 gbk2312 macchinesesimp xmacchinesesimp
big5hkscs 136 950 big5 csbig5 cp950 ms950 windows950 cnbig5 big5tw big5eten big5hk hkscs big5hkscs2004 big5hkscs2001 big5hkscs1999 big5hkscs2008 xxbig5 big5ett cp951 951 chinesebig5 traditionalchinese macchinesetrad xmacchinesetrad ibm950 big5uao
eucjp extendedunixcodepackedformatforjapanese cseucpkdfmtjapanese ujis eucjpms eucjpwin cp51932 51932 cp20932 20932 eucjis2004 eucjisx0213 cp954 33722
iso2022jp csiso2022jp csiso2022jp2 iso2022jp1 iso2022jp2 iso2022jp3 iso2022jp2004 iso2022jpext iso2022jpms csiso2022jpms jis jis7 jis8 jisencoding csjisencoding junet cp50220 50220 cp50221 50221 cp50222 50222 jisx0208 iso2022jpkddi isoir87 jisc62261983 jisc62261978 isoir42 iso2022
iso2022kr csiso2022kr cp50225 50225 ksc5601iso2022kr
iso2022cn csiso2022cn iso2022cnext cp50227 50227 cp50229 50229 csiso2022cnext
hzgb2312 hz hzgb cp52936 52936 hz2312
macroman 77 xmac mac macintosh csmacintosh 10000 cp10000 xmacroman macos macosroman 1275
maccenteuro macce macceroman maccentraleurroman maccentraleurope maclatin2 10029 cp10029 1282
maccyrillic macukrainian 10007 cp10007 xmaccyrillic 1283 10017 cp10017
macgreek 10006 cp10006 1280
macturkish 10081 cp10081 1281
macromania macromanian 10010 cp10010
maciceland macicelandic 10079 cp10079
maccroatian 10082 cp10082
macthai 10021 cp10021
koi8r koi koi8 cskoi8r 20866 cp20866 koi18r cp878 878 koi8rr koi8rrfc1489
koi8u 21866 cp21866 koi8ru cskoi8u cp1168 1168
iso88592 28592 912 cp912 cp1111 latin2windows
iso88593 28593 913 cp913
iso88594 28594 914 cp914
iso88595 28595 915 cp915 ecmacyrillic isoir111 koi8e isoir153 gost1976874 stsev35888
iso88596 28596 1089 cp1089 csiso88596e csiso88596i asmo708 708 cp708
iso88597 28597 813 cp813 latingreek isoir19
iso88598 28598 38598 916 cp916 iso88598i iso88598e csiso88598i csiso88598e logical visual dos862iso cp38598
iso885910 28600 cp919 919
iso885913 28603 921 cp921
iso885914 28604
iso885915 28605 923 cp923 latin9 l9 latin0 iso885915windows ibm00924nonebcdic
iso885916 28606 latin10 l10
cp437 437 cspc8codepage437 dos437 oem oemus pc8 255 254 ibmpc
cp850 850 cspc850multilingual dos850 ibm850 cspc8danishnorwegian pc8danishnorwegian
cp852 852 cspcp852 dos852
cp855 855 dos855
cp857 857 dos857 cspc8turkish pc8turkish
cp858 858 pcmultilingual850euro ccsid00858 ibm00858 cp00858
cp860 860
cp861 861 cpis
cp862 862 dos862 cspc862latinhebrew
cp863 863
cp864 864
cp865 865
cp866 866 dos866 csibm866 alt ibm866nav
cp869 869 cpgr
cp737 737
cp720 720
cp775 775 cspc775baltic
hproman8 roman8 r8 cshproman8 1051 cp1051
viscii csviscii viscii11 cp1129 vps xvietvps
tcvn tcvn5712 tcvn57121 vietnamesetcvn tcvn571211993
rk1048 kz1048 strk10482002 cskz1048
pt154 ptcp154 csptcp154 cp154 cyrillicasian
koi8t kz1048t
armscii8 csarmscii8
georgianps georgianacademy geostd8
decmcs dec csdecmcs
jisx0201 csHalfWidthKatakana x0201
ebcdic037 cp037 37 cp37 ebcdiccpus ebcdiccpca ebcdiccpwt ebcdiccpnl csibm037 ebcdic ebcdicus csebcdicus cp1070 cp282 ibm038 ebcdicint
ebcdic1140 1140 cp1140 ebcdicus37euro ccsid01140 ibm01140 cp01140 csibm01140
ebcdic500 500 cp500 ebcdiccpbe ebcdiccpch csibm500 ebcdicinternational
ebcdic1148 1148 cp1148 ebcdicinternational500euro ccsid01148 cp01148 ibm01148
ebcdic1047 1047 cp1047 ibm1047 latin1open osdebcdicdf0415 osdebcdicdf041
ebcdic273 273 cp273 csibm273 ebcdicde
ebcdic1141 1141 cp1141 ebcdicde273euro ccsid01141 cp01141 ibm01141
ebcdic277 277 cp277 ebcdiccpdk ebcdiccpno csibm277
ebcdic278 278 cp278 ebcdiccpfi ebcdiccpse csibm278
ebcdic280 280 cp280 ebcdiccpit csibm280
ebcdic284 284 cp284 ebcdiccpes csibm284
ebcdic285 285 cp285 ebcdiccpgb csibm285
ebcdic297 297 cp297 ebcdiccpfr csibm297
ebcdic871 871 cp871 ebcdiccpis csibm871
iso646de din66003 isoir21 csiso21german xia5german 20106 cp20106
iso646fr nfz62010 isoir69 csiso69french nfz620101973 isoir25
iso646gb bs4730 isoir4 gb646 csiso4unitedkingdom
iso646se sen850200b isoir10 iso646fi csiso10swedish xia5swedish 20107 cp20107
iso646se2 sen850200c isoir11 csiso11swedishfornames
iso646no ns45511 isoir60 iso646dk ds2089 csiso60danishnorwegian xia5norwegian 20108 cp20108
iso646it isoir15 csiso15italian
iso646es isoir17 csiso17spanish
`;

const ALIASES: ReadonlyMap<string, string> = new Map(
  TABLE.trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', ...aliases] = line.split(' ');
      return [name, ...aliases].map((alias): [string, string] => [alias, name]);
    }),
);
