import { type GuideEntry, guides, loaders } from 'virtual:guides';
import { Anchor, Code, List, Skeleton, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useParams } from 'wouter';
import type { Block, Guide, Inline } from '../../guides/parse-guide.ts';
import { CopyButton } from '../../parts/command.tsx';
import { Icon } from '../../parts/icons.ts';
import { EmptyState, Page } from '../../parts/page.tsx';
import { setPageTitle } from '../../parts/tab-title.ts';
import { PageLink, SmallLink } from '../../parts/text.tsx';
import style from './docs-page.module.css';

/** A guide of docs/, or the list of all. */
export function DocsPage() {
  const { '*': name = '' } = useParams();
  return name === '' ? <GuideList /> : <GuidePage key={name} name={name} />;
}

function GuideList() {
  const [typed, setTyped] = useState('');
  const words = typed.trim().toLowerCase().split(/\s+/);
  const matches = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const found = guides.filter((guide) => matches([guide.title, ...guide.headings.map(({ text }) => text)].join(' ')));
  return (
    <Page title="Guides" about="How to use Postroom, page by page.">
      <TextInput
        type="search"
        aria-label="Search guides"
        placeholder="Title or heading"
        leftSection={<Icon name="search" size={16} />}
        maw={420}
        mb="md"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {found.length === 0 ? (
        <EmptyState icon="book" title="No matching guides" about="Search for other words." />
      ) : (
        <List aria-label="Guides" listStyleType="none" spacing={6} className={style['guides'] ?? ''}>
          {found.map((guide) => (
            <GuideLink
              key={guide.name}
              guide={guide}
              headings={typed === '' ? [] : guide.headings.filter(({ text }) => matches(text))}
            />
          ))}
        </List>
      )}
    </Page>
  );
}

function GuideLink({ guide: { name, title }, headings }: { guide: GuideEntry; headings: GuideEntry['headings'] }) {
  return (
    <List.Item>
      <PageLink href={`/docs/${name}`}>{title}</PageLink>
      {headings.map(({ id, text }) => (
        <SmallLink key={id} href={`/docs/${name}#${id}`} ml="md" display="block">
          {text}
        </SmallLink>
      ))}
    </List.Item>
  );
}

function GuidePage({ name }: { name: string }) {
  const [guide, setGuide] = useState<Guide | null>(null);
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  useEffect(() => {
    let isCurrent = true;
    void load?.().then((loaded) => isCurrent && setGuide(loaded.default as Guide));
    return () => void (isCurrent = false);
  }, [load]);
  useEffect(() => {
    if (guide === null) return;
    setPageTitle(guide.title);
    const { hash } = window.location;
    if (hash !== '') document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  }, [guide]);
  if (load === undefined)
    return (
      <EmptyState icon="book" title="Guide not found" about="It may have another name now.">
        <PageLink href="/docs">All guides</PageLink>
      </EmptyState>
    );
  if (guide === null) return <Skeleton h={300} maw="72ch" aria-label="Loading" />;
  return (
    <article className={style['guide']}>
      <SmallLink href="/docs">All guides</SmallLink>
      <Stack gap="sm">
        <Blocks blocks={guide.blocks} />
      </Stack>
    </article>
  );
}

function Blocks({ blocks }: { blocks: readonly Block[] }): ReactNode {
  // A guide never changes while it is shown.
  return blocks.map((block, at) => <OneBlock key={at} block={block} />);
}

function OneBlock({ block }: { block: Block }) {
  switch (block.kind) {
    case 'heading': {
      const order = Math.min(6, block.level) as 1 | 2 | 3 | 4 | 5 | 6;
      return (
        <Title order={order} id={block.id} mt={order === 1 ? 'xs' : 'md'}>
          <Inlines of={block.children} />
        </Title>
      );
    }
    case 'code':
      return (
        <div className={style['code']}>
          <Code block tabIndex={0} role="group" aria-label="Code">
            {block.text}
          </Code>
          <span className={style['copy']}>
            <CopyButton text={block.text} label="Copy code" />
          </span>
        </div>
      );
    case 'list':
      return (
        <List type={block.isOrdered ? 'ordered' : 'unordered'} spacing={4} withPadding>
          {block.items.map((item, at) => (
            <List.Item key={at}>
              <Blocks blocks={item} />
            </List.Item>
          ))}
        </List>
      );
    case 'table':
      return (
        <Table.ScrollContainer minWidth={480} type="native">
          <Table>
            <Table.Thead>
              <Table.Tr>
                {block.head.map((cell, at) => (
                  <Table.Th key={at} scope="col">
                    <Inlines of={cell} />
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {block.rows.map((row, line) => (
                <Table.Tr key={line}>
                  {row.map((cell, at) => (
                    <Table.Td key={at}>
                      <Inlines of={cell} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      );
    case 'quote':
    case 'paragraph':
      return (
        <Text component={block.kind === 'quote' ? 'blockquote' : 'p'} m={0} className="postroom-wrap">
          <Inlines of={block.children} />
        </Text>
      );
  }
}

function Inlines({ of: parts }: { of: readonly Inline[] }): ReactNode {
  return parts.map((child, at) => {
    if (typeof child === 'string') return child;
    if (child.kind === 'code') return <Code key={at}>{child.text}</Code>;
    const inner = <Inlines of={child.children} />;
    if (child.kind === 'strong') return <strong key={at}>{inner}</strong>;
    if (child.kind === 'emphasis') return <em key={at}>{inner}</em>;
    return child.href.startsWith('/') ? (
      <PageLink key={at} href={child.href} underline="always">
        {inner}
      </PageLink>
    ) : (
      <Anchor key={at} href={child.href} underline="always" rel="noreferrer">
        {inner}
      </Anchor>
    );
  });
}
