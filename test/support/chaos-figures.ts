import { appendFile } from 'node:fs/promises';

/** How long experiments run: `quick` in `npm test`, `npm run test:program` and `npm run test:attack`, `slice` in `npm run test:long`, `full` in `npm run chaos`. */
const length = process.env['CHAOS_LENGTH'] ?? 'quick';
export const isQuick = length === 'quick';
export const isFullLength = length === 'full';

/** Kills per fault point. */
export const killsPerPoint = Number(process.env['CHAOS_KILLS'] ?? (isQuick ? 1 : 3));

/** Notes what an experiment measured for docs/chaos.md. Does nothing outside of `npm run chaos`. */
export async function noteFigure(experiment: string, note: string): Promise<void> {
  await writeFigure({ experiment, note });
}

/** Adds a line to the file of figures of `npm run chaos`, if it runs. */
export async function writeFigure(figure: { experiment: string } & Record<string, unknown>): Promise<void> {
  const file = process.env['CHAOS_FIGURES'];
  if (file !== undefined) await appendFile(file, `${JSON.stringify(figure)}\n`);
}
