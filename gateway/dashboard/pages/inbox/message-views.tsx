import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { ChecksTab, HeadersTab, HtmlTab, RawTab, TextTab } from '../activity/content-tabs.tsx';
import type { ThreadMessage } from './thread-documents.ts';

const views: { name: string; label: string; show: (message: ThreadMessage) => ReactNode }[] = [
  {
    name: 'preview',
    label: 'Preview',
    show: ({ id, subject }) => <HtmlTab id={id} subject={subject || '(no subject)'} />,
  },
  { name: 'text', label: 'Plain text', show: ({ id }) => <TextTab id={id} /> },
  { name: 'source', label: 'Source', show: ({ id }) => <RawTab id={id} /> },
  { name: 'headers', label: 'Headers', show: ({ id }) => <HeadersTab id={id} /> },
  { name: 'checks', label: 'Checks', show: ({ id }) => <ChecksTab id={id} /> },
];

/** A message as its parts: how it looks on other screens, its text, source and headers, and what is wrong with its HTML. */
export function MessageViews({ message }: { message: ThreadMessage }) {
  return (
    <Tabs defaultValue="preview" keepMounted={false}>
      <Tabs.List aria-label="Views of the message">
        {views.map(({ name, label }) => (
          <Tabs.Tab key={name} value={name}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {views.map(({ name, show }) => (
        <Tabs.Panel key={name} value={name} pt="sm">
          {show(message)}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
