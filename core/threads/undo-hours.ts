/** How long a change of threads can be undone. */
export const UNDO_HOURS = 24;
