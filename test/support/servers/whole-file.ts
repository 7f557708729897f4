import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file in one step, so that no reader finds half of it. */
export function writeWholeFile(file: string, text: string): void {
  writeFileSync(`${file}.draft`, text);
  renameSync(`${file}.draft`, file);
}
