import { decodePlace, encodePlace, type Place } from '../shared/page.ts';

/** A place in the list of guard rules: the highest priority first, of equal ones the newest. */
export interface RulePlace extends Place {
  priority: number;
}

/** A place as a cursor, opaque to clients. */
export function encodeRulePlace(place: RulePlace): string {
  return `${place.priority}.${encodePlace(place)}`;
}

/** The place that a cursor of encodeRulePlace names; null when it is none. */
export function decodeRulePlace(cursor: string): RulePlace | null {
  const match = /^(-?\d{1,5})\.([A-Za-z0-9_-]+)$/.exec(cursor);
  const place = decodePlace(match?.[2] ?? '');
  return place === null ? null : { ...place, priority: Number(match?.[1]) };
}
