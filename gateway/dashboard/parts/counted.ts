/** Returns a number with its noun: "1 email", "2,040 emails", "3 addresses". */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`;
}

/** Returns a number as every page shows it: "2,040". */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}
