import { appendFile } from 'node:fs/promises';

/** Whether experiments run at full length: set by `npm run chaos`, not by `npm test`. */
export const isFullLength = process.env['CHAOS_LENGTH'] === 'full';

/** Notes what an experiment measured for docs/chaos.md. Does nothing outside of `npm run chaos`. */
export async function noteFigure(experiment: string, note: string): Promise<void> {
  await writeFigure({ experiment, note });
}

/** Adds a line to the file of figures of `npm run chaos`, if it runs. */
export async function writeFigure(figure: { experiment: string } & Record<string, unknown>): Promise<void> {
  const file = process.env['CHAOS_FIGURES'];
  if (file !== undefined) await appendFile(file, `${JSON.stringify(figure)}\n`);
}
