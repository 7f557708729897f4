import { Pill, TagsInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { addressIn, looksLikeMailbox, mailboxLine, refusalOfMailboxes } from './address-text.ts';
import { CONTACTS } from './composer-documents.ts';

/** Minimum number of characters for suggestions. */
const SEARCH_FROM = 2;
const TYPING_MS = 150;
const SHOWN = 8;

export interface AddressFieldProps {
  label: string;
  /** value of the form field */
  value?: string[];
  onChange: (value: string[]) => void;
  /** told what is typed and no tag yet */
  onTyped: (text: string) => void;
  error?: ReactNode;
  isFirst?: boolean;
  isRequired?: boolean;
}

/** Field for addresses, shown as tags. Suggests people with whom mail was exchanged. */
export function AddressField({
  label,
  value = [],
  onChange,
  onTyped,
  error,
  isFirst = false,
  isRequired = false,
}: AddressFieldProps) {
  const [typed, setTypedText] = useState('');
  const setTyped = (text: string) => {
    setTypedText(text);
    onTyped(text);
  };
  const [isOpen, setOpen] = useState(false);
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [{ data }] = useQuery({ query: CONTACTS, variables: { prefix: search }, pause: search.length < SEARCH_FROM });
  const taken = new Set(value.map((text) => addressIn(text).toLowerCase()));
  const people =
    search.length < SEARCH_FROM
      ? []
      : (data?.contacts ?? []).filter(({ address }) => !taken.has(address)).map(mailboxLine);
  const suggestions = [...new Set(people)].slice(0, SHOWN);
  return (
    <TagsInput
      label={label}
      value={value}
      onChange={(next) => onChange([...new Set(next.flatMap(splitPasted))])}
      searchValue={typed}
      onSearchChange={setTyped}
      data={suggestions}
      // An empty list would take the Esc that closes the composer.
      dropdownOpened={isOpen && suggestions.length > 0}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      filter={({ options }) => options}
      renderPill={({ value: text = '', onRemove, disabled }) => (
        <Pill
          withRemoveButton
          disabled={disabled ?? false}
          {...(onRemove === undefined ? {} : { onRemove })}
          {...(looksLikeMailbox(text) ? {} : { bg: 'red.1', c: 'red.9', title: `"${text}" is not a valid address` })}
        >
          {text}
        </Pill>
      )}
      splitChars={[';']}
      // At once, and not only when the email is sent.
      error={error ?? refusalOfMailboxes(value)}
      required={isRequired}
      withAsterisk={false}
      data-autofocus={isFirst || undefined}
      onKeyDown={(event) => {
        // A comma ends an address, but not a name in quotes.
        if (event.key === ',' && addressIn(typed).includes('@')) {
          event.preventDefault();
          onChange([...value, typed.trim()]);
          setTyped('');
        }
      }}
    />
  );
}

/** Splits a pasted list into addresses. Commas within quotes or names do not separate. */
function splitPasted(text: string): string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,;\n"])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
