/** Why the service did not take what a form gave. */
export interface Refusal {
  message: string;
  /** error of each input field, by its name */
  fields: Record<string, string>;
}

/**
 * Returns what a form with `values` shows for a refusal: an error at each field that it has, and under `problem` the message of the whole
 * unless its fields say all of it.
 */
export function formErrors({ fields, message }: Refusal, values: object): Record<string, string> {
  const shown = Object.entries(fields).filter(([name]) => name in values);
  const isComplete = shown.length > 0 && shown.length === Object.keys(fields).length;
  return { ...Object.fromEntries(shown), ...(isComplete ? {} : { problem: message }) };
}
