import { Table, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { CopyButton } from '../../parts/copy-button.tsx';
import { HEADERS } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';

/** The headers in their original order, with a filter. */
export function HeadersTab({ id }: { id: string }) {
  const [word, setWord] = useState('');
  return (
    <EmailPart id={id} query={HEADERS}>
      {({ content: { headers } }) => {
        const wanted = word.trim().toLowerCase();
        const shown = headers.filter(({ name, value }) => `${name}: ${value}`.toLowerCase().includes(wanted));
        return (
          <>
            <TextInput
              label="Filter header fields"
              placeholder="received, dkim, example.com"
              value={word}
              onChange={({ currentTarget }) => setWord(currentTarget.value)}
              maw={420}
            />
            <Text size="sm" c="dimmed" role="status">
              {shown.length} of {headers.length} fields
            </Text>
            <Table.ScrollContainer minWidth={320} tabIndex={0} role="region" aria-label="Header fields">
              <Table verticalSpacing={4} layout="fixed" withRowBorders>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th w="30%">Name</Table.Th>
                    <Table.Th>Value</Table.Th>
                    <Table.Th w={48}>
                      <VisuallyHidden>Copy</VisuallyHidden>
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {shown.map(({ name, value }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a name may occur several times
                    <Table.Tr key={`${at} ${name}`}>
                      <Table.Td style={{ verticalAlign: 'top' }} className="postroom-wrap">
                        <Text size="sm" fw={600} ff="monospace">
                          {name}
                        </Text>
                      </Table.Td>
                      <Table.Td className="postroom-wrap">
                        <Text size="sm" ff="monospace">
                          {value}
                        </Text>
                      </Table.Td>
                      <Table.Td style={{ verticalAlign: 'top' }}>
                        <CopyButton text={value} label={`Copy ${name}`} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </>
        );
      }}
    </EmailPart>
  );
}
