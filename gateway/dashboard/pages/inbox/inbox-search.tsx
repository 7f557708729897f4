import { ActionIcon, CloseButton, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  lazy,
  type RefObject,
  type SubmitEvent,
  Suspense,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useState,
} from 'react';
import { IconHelp, IconSearch } from '../../parts/icons.ts';

const SearchHelp = lazy(async () => ({ default: (await import('./search-help.tsx')).SearchHelp }));

export interface InboxSearchProps {
  search: string;
  /** `replace`: the change is no step of the browser's history */
  setSearch: (search: string, options?: { replace: boolean }) => void;
  field: RefObject<HTMLInputElement | null>;
  /** receives a function that inserts an operator into the field */
  inserter: RefObject<((text: string) => void) | null>;
}

/** A search runs when its user pauses for this long. Milliseconds. */
const TYPING_MS = 250;
/** Shorter searches run only when they are submitted. Characters. */
const SEARCH_FROM = 2;

/** Search field with a list of its operators. The search runs as it is typed, unless it ends in the middle of an operator or a phrase. */
export function InboxSearch({ search, setSearch, field, inserter }: InboxSearchProps) {
  const [typed, setTyped] = useState(search);
  // What is typed meanwhile stays.
  useEffect(() => setTyped((before) => (before.trim() === search ? before : search)), [search]);
  const [paused] = useDebouncedValue(typed.trim(), TYPING_MS);
  const runTyped = useEffectEvent(() => {
    const isTyping = document.activeElement === field.current && paused === typed.trim();
    if (isTyping && paused !== search && isWhole(paused)) setSearch(paused, { replace: search !== '' });
  });
  useEffect(() => runTyped(), [paused]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setSearch(typed.trim());
  };
  const insert = (text: string) => {
    setTyped((before) => (before.trim() === '' ? text : `${before.trimEnd()} ${text}`));
    field.current?.focus();
  };
  useImperativeHandle(inserter, () => insert);
  return (
    <form onSubmit={submit}>
      {/* A search landmark by role: the element of that name is not known everywhere. */}
      <div role="search">
        <TextInput
          ref={field}
          type="search"
          aria-label="Search mail"
          placeholder="Search, for example from:ann has:attachment"
          value={typed}
          maxLength={500}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSectionWidth={64}
          rightSection={
            <Group gap={2} wrap="nowrap">
              {typed !== '' && (
                <CloseButton
                  size="sm"
                  aria-label="Clear search"
                  onClick={() => {
                    setTyped('');
                    setSearch('');
                    field.current?.focus();
                  }}
                />
              )}
              <HelpButton insert={insert} />
            </Group>
          }
        />
      </div>
    </form>
  );
}

/** Returns whether a search can run as it is: it is empty, or long enough and neither an operator without its value nor an open phrase. */
function isWhole(search: string): boolean {
  if (search === '') return true;
  const hasOpenPhrase = (search.split('"').length - 1) % 2 === 1;
  return search.length >= SEARCH_FROM && !hasOpenPhrase && !/(^|\s)[-!(]?[a-z_]*[:(!-]$/i.test(search);
}

/** Button of the search operators, which are loaded on first use. */
function HelpButton({ insert }: { insert: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const button = (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label="Search operators"
      aria-haspopup="dialog"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      <IconHelp size={18} aria-hidden />
    </ActionIcon>
  );
  if (!isOpen) return button;
  return (
    <Suspense fallback={button}>
      <SearchHelp target={button} close={() => setOpen(false)} insert={insert} />
    </Suspense>
  );
}
