import { graphql, type ResultOf } from '../graphql.ts';

/** The snippets of the workspace, by name. */
export const SNIPPETS = graphql(`query DashboardSnippets { snippets { id name text } }`);

/** A text that the composer inserts. */
export type Snippet = ResultOf<typeof SNIPPETS>['snippets'][number];
