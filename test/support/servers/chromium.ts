import { existsSync } from 'node:fs';

/**
 * Where Chromium is; undefined: nowhere, and what needs it is skipped. The headless shell is the same engine without the browser's windows, and
 * needs a fifth less processor time.
 */
export const chromiumPath = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync);

/** The public name of a server on this machine, for the browser alone. */
export const PUBLIC_NAME = 'images.example';
