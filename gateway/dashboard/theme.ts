import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** Blue-violet, dark enough on white for text (WCAG AA) from the seventh shade on. */
const postroom: MantineColorsTuple = [
  '#eef2ff',
  '#dde5ff',
  '#bac8ff',
  '#93a8fb',
  '#748ef6',
  '#5c7cfa',
  '#4263eb',
  '#3b5bdb',
  '#364fc7',
  '#2b3f9e',
];

/** Theme of the dashboard. Custom properties in page.css define what differs between light and dark. */
export const theme = createTheme({
  colors: { postroom },
  primaryColor: 'postroom',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  fontFamily: 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: {
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // The icon has no accessible name.
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    // A page has only one banner, which is not the header of a dialog.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
    // The alert colors have less contrast than WCAG AA requires. Border and icon keep them.
    Alert: { styles: { title: { color: 'var(--mantine-color-text)' } } },
  },
});
