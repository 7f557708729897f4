/** Returns a number with its noun: "1 email", "2,040 emails", "3 addresses". */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`;
}
