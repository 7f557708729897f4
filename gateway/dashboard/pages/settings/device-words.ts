/** Patterns of the User-Agent field (RFC 9110 §10.1.5). The first match counts, because browsers claim to be their predecessors. */
const browsers: [pattern: RegExp, words: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\//, 'Headless Chrome'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const systems: [pattern: RegExp, words: string][] = [
  [/\biPhone\b/, 'an iPhone'],
  [/\biPad\b/, 'an iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMacintosh\b/, 'a Mac'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** Returns the browser and its system, such as "Firefox on Windows". */
export function deviceWords(userAgent: string | null | undefined): string {
  const of = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const [browser, system] = [of(browsers), of(systems)];
  if (system === undefined) return browser ?? 'Unknown program';
  return `${browser ?? 'A browser'} on ${system}`;
}

/** Returns whether it is a mobile device. */
export function isHandheld(userAgent: string | null | undefined): boolean {
  return /\biPhone\b|\biPad\b|\bAndroid\b/.test(userAgent ?? '');
}
