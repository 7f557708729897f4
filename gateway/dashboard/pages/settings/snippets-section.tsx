import { Button, Code, Group, Skeleton, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { SNIPPET_PLACEHOLDERS } from '../../../../core/sending/snippet.ts';
import { SNIPPETS, type Snippet } from '../../composer/snippet-documents.ts';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { type Problem, useAct } from '../../parts/use-act.ts';
import { useFirstField } from '../../shell/keys.ts';
import { useRight } from '../../shell/viewer.ts';
import { Section } from './section.tsx';

const CREATE = graphql(`
  mutation SettingsCreateSnippet($input: CreateSnippetInput!) {
    createSnippet(input: $input) {
      __typename
      ... on CreateSnippetPayload { snippet { id name text } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);
const UPDATE = graphql(`
  mutation SettingsUpdateSnippet($input: UpdateSnippetInput!) {
    updateSnippet(input: $input) {
      __typename
      ... on UpdateSnippetPayload { snippet { id name text } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);
const DELETE = graphql(`
  mutation SettingsDeleteSnippet($input: DeleteSnippetInput!) {
    deleteSnippet(input: $input) {
      __typename
      ... on DeleteSnippetPayload { deletedId }
      ... on Error { message code }
    }
  }
`);

/** Texts that the composer inserts. */
export function SnippetsSection() {
  const { data, error, refresh } = useLiveQuery({ query: SNIPPETS, variables: {}, kinds: [], types: ['Snippet'] });
  const mayChange = useRight('organize');
  const [edited, setEdited] = useState<Snippet | 'new' | null>(null);
  const { act: remove } = useAct(DELETE);
  const snippets = data?.snippets;
  const done = () => {
    setEdited(null);
    refresh();
  };
  return (
    <Section
      title="Snippets"
      about="Texts for all members. Type / at the beginning of a line of an email to insert one."
      actions={mayChange && edited === null && <Button onClick={() => setEdited('new')}>Create snippet</Button>}
    >
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {snippets === undefined && error === undefined && <Skeleton h={40} />}
      {edited === 'new' && <SnippetForm snippet={null} done={done} cancel={() => setEdited(null)} />}
      {snippets?.length === 0 && edited === null && <Text size="sm">No snippets yet.</Text>}
      <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Snippets">
        {snippets?.map((snippet) => (
          <li key={snippet.id}>
            {edited !== null && edited !== 'new' && edited.id === snippet.id ? (
              <SnippetForm snippet={snippet} done={done} cancel={() => setEdited(null)} />
            ) : (
              <Group justify="space-between" gap="sm" wrap="nowrap" align="flex-start">
                <div style={{ minWidth: 0 }}>
                  <Text size="sm" fw={600} className="postroom-wrap">
                    {snippet.name}
                  </Text>
                  <Text size="xs" c="dimmed" lineClamp={2} className="postroom-wrap">
                    {snippet.text}
                  </Text>
                </div>
                {mayChange && (
                  <Group gap="xs" wrap="nowrap">
                    <Button
                      variant="default"
                      size="xs"
                      aria-label={`Edit ${snippet.name}`}
                      onClick={() => setEdited(snippet)}
                    >
                      Edit
                    </Button>
                    <ConfirmButton
                      label="Delete"
                      aria-label={`Delete ${snippet.name}`}
                      question="Delete snippet?"
                      about={`${snippet.name} can no longer be inserted. Emails stay as they are.`}
                      confirm="Delete snippet"
                      act={async () => {
                        await remove({ input: { id: snippet.id } });
                        refresh();
                      }}
                    />
                  </Group>
                )}
              </Group>
            )}
          </li>
        ))}
      </Stack>
    </Section>
  );
}

function SnippetForm({ snippet, done, cancel }: { snippet: Snippet | null; done: () => void; cancel: () => void }) {
  useFirstField();
  const [name, setName] = useState(snippet?.name ?? '');
  const [text, setText] = useState(snippet?.text ?? '');
  const [problem, setProblem] = useState<Problem | null>(null);
  const { act: create, isBusy: isCreating } = useAct(CREATE, { quiet: true });
  const { act: update, isBusy: isUpdating } = useAct(UPDATE, { quiet: true });
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const outcome =
      snippet === null
        ? await create({ input: { name, text } })
        : await update({ input: { id: snippet.id, name, text } });
    if (outcome.problem === null) done();
    else setProblem(outcome.problem);
  };
  const ofForm = problem !== null && Object.keys(problem.fields).length === 0 ? problem.message : null;
  return (
    <form onSubmit={(event) => void save(event)} aria-label={snippet === null ? 'New snippet' : `Edit ${snippet.name}`}>
      <Stack gap="xs">
        <TextInput
          label="Name"
          value={name}
          maxLength={64}
          required
          data-autofocus
          error={problem?.fields['name'] ?? ofForm}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          label="Text"
          autosize
          minRows={4}
          maxRows={16}
          value={text}
          maxLength={10_000}
          required
          error={problem?.fields['text']}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Text size="xs" c="dimmed">
          {'Placeholders: '}
          {Object.entries(SNIPPET_PLACEHOLDERS).map(([placeholder, about]) => (
            <Code key={placeholder} mr={4} title={about}>{`{{${placeholder}}}`}</Code>
          ))}
        </Text>
        <Group gap="xs">
          <Button type="submit" loading={isCreating || isUpdating}>
            {snippet === null ? 'Create snippet' : 'Save snippet'}
          </Button>
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
