import { Button } from '@mantine/core';

/** Shows and hides what a message quotes, below its own words; the same for HTML and for text. */
export function QuotedTextButton({
  what = 'quoted text',
  isShown,
  toggle,
}: {
  what?: string;
  isShown: boolean;
  toggle: () => void;
}) {
  return (
    <Button size="compact-xs" variant="default" w="fit-content" aria-expanded={isShown} onClick={toggle}>
      {`${isShown ? 'Hide' : 'Show'} ${what}`}
    </Button>
  );
}
