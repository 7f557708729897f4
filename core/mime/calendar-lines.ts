/** A property of a calendar (RFC 5545 §3.1). */
export interface CalendarLine {
  /** upper case */
  name: string;
  /** by upper-case name; without quotation marks */
  parameters: ReadonlyMap<string, string>;
  /** as written: texts are still escaped */
  value: string;
}

/** A part of a calendar between BEGIN and END, without the parts within it. */
export interface CalendarComponent {
  /** upper case, such as `VEVENT` */
  name: string;
  /** the component around it; null for the outermost */
  parent: CalendarComponent | null;
  lines: CalendarLine[];
}

/** Maximum characters of a calendar and of a line, and maximum lines and components that are read. */
const MAX_CALENDAR = 1_000_000;
const MAX_LINE = 20_000;
const MAX_LINES = 20_000;
const MAX_COMPONENTS = 2_000;

/** Reads the components of a calendar, in order. What is beyond the limits is left out. Linear, never throws. */
export function readCalendar(text: string): CalendarComponent[] {
  const unfolded = text
    .slice(0, MAX_CALENDAR)
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]/g, '');
  const components: CalendarComponent[] = [];
  let open = null as CalendarComponent | null;
  let at = 0;
  for (let count = 0; at < unfolded.length && count < MAX_LINES; count++) {
    const lineEnd = unfolded.indexOf('\n', at);
    const end = lineEnd === -1 ? unfolded.length : lineEnd;
    const line = end - at > MAX_LINE ? null : readLine(unfolded.slice(at, end));
    at = end + 1;
    if (line === null) continue;
    if (line.name === 'BEGIN') {
      if (components.length === MAX_COMPONENTS) break;
      open = { name: line.value.trim().toUpperCase(), parent: open, lines: [] };
      components.push(open);
    } else if (line.name === 'END') {
      open = open?.parent ?? null;
    } else {
      open?.lines.push(line);
    }
  }
  return components;
}

/** Returns the first property with this name; null when there is none. */
export function findLine(component: CalendarComponent, name: string): CalendarLine | null {
  return component.lines.find((line) => line.name === name) ?? null;
}

const NAME = /^[\w-]+/;
/** Values in quotes may contain separators, and Outlook writes some without: `TZID=(UTC-05:00) Eastern Time (US & Canada)`. */
const PARAMETER = /;([\w-]+)=((?:"[^"]*"|(?<==)\((?:UTC|GMT)(?:[+-]\d\d:\d\d)?\)|[^";:,])*(?:,(?:"[^"]*"|[^";:,])*)*)/y;

function readLine(text: string): CalendarLine | null {
  const name = NAME.exec(text)?.[0];
  if (name === undefined) return null;
  const parameters = new Map<string, string>();
  let at = name.length;
  for (PARAMETER.lastIndex = at; ; at = PARAMETER.lastIndex) {
    const parameter = PARAMETER.exec(text);
    if (parameter === null) break;
    parameters.set((parameter[1] ?? '').toUpperCase(), (parameter[2] ?? '').replaceAll('"', ''));
  }
  const colon = text.indexOf(':', at);
  return colon === -1 ? null : { name: name.toUpperCase(), parameters, value: text.slice(colon + 1) };
}

/** Returns a text value without its escapes (RFC 5545 §3.3.11), on one line. */
export function readText(value: string): string {
  return value
    .replace(/\\([nN]|[\\;,:"])/g, (_escape, character: string) => (/n/i.test(character) ? '\n' : character))
    .replace(/\s+/g, ' ')
    .trim();
}
