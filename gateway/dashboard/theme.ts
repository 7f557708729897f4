import { createTheme, type MantineColorsTuple, virtualColor } from '@mantine/core';

/** Reads ten shades of a color, the lightest or the palest first. */
const shades = (words: string) => words.split(' ') as unknown as MantineColorsTuple;

/** Buttons and marks are ink on a light page and paper on a dark one. The eighth shade is that of filled ones, the ninth under the pointer. */
const ink = shades('#f4f1ea #e9e4d9 #d3ccbd #b5ad9c #8f8777 #6f685a #3a362e #1f1d19 #3a362e #13120f');
const paper = shades('#fffefb #f7f4ed #f0ece3 #ece8df #e9e4d9 #e4ded2 #e9e4d9 #ece8df #d3ccbd #fffefb');

/** The yellow of letter boxes: what is unread, chosen or on its way. Status has green, orange and red. */
const post = shades('#fff8e0 #fdefc0 #fae08c #f7d158 #f4c430 #e5b015 #c08f00 #946c00 #755500 #573f00');

/** Greys with the warmth of paper. */
const gray = shades('#faf8f4 #f3f0e9 #e9e5db #ddd8cb #cdc6b7 #aba392 #857d6d #575146 #3a362e #26231e');
const dark = shades('#ece8df #d8d3c7 #aaa393 #857d6d #4a453c #39352e #2c2923 #211f1a #1a1814 #13120f');

/**
 * What opens is on the page when its key or click is handled. A transition puts it there a frame later, and gives it up a moment after it is
 * closed: what is typed meanwhile would go elsewhere. page.css moves it in.
 */
const AT_ONCE = { defaultProps: { transitionProps: { duration: 0 } } };

/** Theme of the dashboard. Custom properties in colors.css define what differs between light and dark. */
export const theme = createTheme({
  colors: { ink, paper, main: virtualColor({ name: 'main', light: 'ink', dark: 'paper' }), post, gray, dark },
  white: '#fffefb',
  black: '#1f1d19',
  primaryColor: 'main',
  primaryShade: { light: 7, dark: 7 },
  // Text on a filled button is ink or paper, whichever can be read.
  autoContrast: true,
  defaultRadius: 'sm',
  fontFamily: '"Public Sans Variable", ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontWeights: { medium: '600' },
  headings: {
    fontWeight: '700',
    sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // The icon has no accessible name.
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    Modal: AT_ONCE,
    Drawer: AT_ONCE,
    Popover: AT_ONCE,
    Spotlight: AT_ONCE,
    Badge: { defaultProps: { tt: 'none' } },
    // What is on ink or paper is the other of the two, in both schemes.
    Stepper: { vars: () => ({ root: { '--stepper-icon-color': 'var(--mantine-primary-color-contrast)' } }) },
    // A page has only one banner, which is not the header of a dialog.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
    // The alert colors have less contrast than WCAG AA requires. Border and icon keep them.
    // A command in an alert scrolls; the alert stays as wide as its page.
    Alert: { styles: { title: { color: 'var(--mantine-color-text)' }, body: { minWidth: 0 } } },
  },
});
