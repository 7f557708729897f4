import { Button, Code, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { SNIPPET_PLACEHOLDERS } from '../../../../core/sending/snippet.ts';
import { SNIPPETS, type Snippet } from '../../composer/snippet-documents.ts';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { Loaded, PlainList, Section } from '../../parts/section.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useFirstField } from '../../shell/keys.ts';
import { useRight } from '../../shell/viewer.ts';

const CREATE = graphql(`
  mutation SettingsCreateSnippet($input: CreateSnippetInput!) {
    createSnippet(input: $input) { __typename ... on CreateSnippetPayload { snippet { id name text } } }
  }
`);
const UPDATE = graphql(`
  mutation SettingsUpdateSnippet($input: UpdateSnippetInput!) {
    updateSnippet(input: $input) { __typename ... on UpdateSnippetPayload { snippet { id name text } } }
  }
`);
const DELETE = graphql(`
  mutation SettingsDeleteSnippet($input: DeleteSnippetInput!) {
    deleteSnippet(input: $input) { __typename ... on DeleteSnippetPayload { deletedId } }
  }
`);

/** Texts that the composer inserts. */
export function SnippetsSection() {
  const query = useLiveQuery({ query: SNIPPETS, variables: {}, kinds: [], types: ['Snippet'] });
  const mayChange = useRight('organize');
  /** the ID of the snippet that is edited; `new`: one to create */
  const [edited, setEdited] = useState<string | null>(null);
  const cancel = () => setEdited(null);
  const done = () => {
    cancel();
    query.refresh();
  };
  return (
    <Section
      title="Snippets"
      about="Texts for all members. Type / at the beginning of a line of an email to insert one."
      actions={mayChange && edited === null && <Button onClick={() => setEdited('new')}>Create snippet</Button>}
    >
      {edited === 'new' && <SnippetForm snippet={null} done={done} cancel={cancel} />}
      <Loaded query={query} height={40}>
        {({ snippets }) => (
          <>
            {snippets.length === 0 && edited === null && <Text size="sm">No snippets yet.</Text>}
            <PlainList label="Snippets">
              {snippets.map((snippet) => (
                <li key={snippet.id}>
                  {edited === snippet.id ? (
                    <SnippetForm snippet={snippet} done={done} cancel={cancel} />
                  ) : (
                    <SnippetRow
                      snippet={snippet}
                      edit={mayChange ? () => setEdited(snippet.id) : null}
                      changed={query.refresh}
                    />
                  )}
                </li>
              ))}
            </PlainList>
          </>
        )}
      </Loaded>
    </Section>
  );
}

interface SnippetRowProps {
  snippet: Snippet;
  /** null: the person may not */
  edit: (() => void) | null;
  changed: () => void;
}

function SnippetRow({ snippet: { id, name, text }, edit, changed }: SnippetRowProps) {
  const { act: remove } = useAct(DELETE);
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap" align="flex-start">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={600} className="postroom-wrap">
          {name}
        </Text>
        <Text size="xs" c="dimmed" lineClamp={2} className="postroom-wrap">
          {text}
        </Text>
      </div>
      {edit !== null && (
        <Group gap="xs" wrap="nowrap">
          <Button variant="default" size="xs" aria-label={`Edit ${name}`} onClick={edit}>
            Edit
          </Button>
          <ConfirmButton
            label="Delete"
            aria-label={`Delete ${name}`}
            question="Delete snippet?"
            about={`${name} can no longer be inserted. Emails stay as they are.`}
            confirm="Delete snippet"
            act={() => remove({ input: { id } }).then(changed)}
          />
        </Group>
      )}
    </Group>
  );
}

interface SnippetFormProps {
  /** null: a new one */
  snippet: Snippet | null;
  done: () => void;
  cancel: () => void;
}

function SnippetForm({ snippet, done, cancel }: SnippetFormProps) {
  useFirstField();
  const { act: create } = useAct(CREATE, { quiet: true });
  const { act: update } = useAct(UPDATE, { quiet: true });
  const form = useRecordForm({
    values: { name: snippet?.name ?? '', text: snippet?.text ?? '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      text: (text) => (text.trim() === '' ? 'Enter a text.' : null),
    },
    submit: async (input) => (snippet === null ? create({ input }) : update({ input: { id: snippet.id, ...input } })),
    saved: done,
  });
  return (
    <RecordForm
      form={form}
      submit={snippet === null ? 'Create snippet' : 'Save snippet'}
      label={snippet === null ? 'New snippet' : `Edit ${snippet.name}`}
      cancel={cancel}
      gap="xs"
    >
      <form.Text name="name" label="Name" maxLength={64} required data-autofocus />
      <form.LongText name="text" label="Text" minRows={4} maxRows={16} maxLength={10_000} required />
      <Text size="xs" c="dimmed">
        {'Placeholders: '}
        {Object.entries(SNIPPET_PLACEHOLDERS).map(([placeholder, about]) => (
          <Code key={placeholder} mr={4} title={about}>{`{{${placeholder}}}`}</Code>
        ))}
      </Text>
    </RecordForm>
  );
}
