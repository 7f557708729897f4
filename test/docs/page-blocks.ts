/** A fenced block of a page. */
export interface Block {
  language: string;
  text: string;
  /** what stands between the block before and this one, without white space around */
  before: string;
}

/** A block of shell commands, with the output that the page shows for it. */
export interface ShellBlock {
  text: string;
  /** each a JSON document or text, with `…` for what may differ */
  outputs: string[];
}

export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let end = 0;
  for (const match of page.matchAll(/^```(\w*)[^\n]*\n(.*?)^```$/gms)) {
    const [whole, language = '', text = ''] = match;
    blocks.push({ language, text, before: page.slice(end, match.index).trim() });
    end = match.index + whole.length;
  }
  return blocks;
}

/**
 * Returns the blocks of shell commands in their order. The output of a block is the block of JSON or text that follows it at once, and
 * comments in it that begin with a JSON document.
 */
export function readShellBlocks(page: string): ShellBlock[] {
  const blocks = readBlocks(page);
  return blocks.flatMap(({ language, text }, at) => {
    if (language !== 'sh') return [];
    const next = blocks[at + 1];
    const isOutput = next?.before === '' && ['json', 'text'].includes(next.language);
    const comments = [...text.matchAll(/^# ([[{].*(?:\n# {2,}.*)*)$/gm)].map(([, comment = '']) =>
      comment.replaceAll(/\n# /g, ''),
    );
    return [{ text, outputs: isOutput ? [...comments, next.text] : comments }];
  });
}

/** Returns a pattern of an output without its white space; `…` stands for anything. */
export function outputPattern(shown: string): RegExp {
  const parts = shown.replaceAll(/\s/g, '').split(/…,?/);
  return new RegExp(parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*?'));
}

/** Returns whether the block shows that its command fails, as REST and GraphQL tell it. */
export function showsRefusal({ outputs }: ShellBlock): boolean {
  return outputs.some((output) => /"statusCode": ?[45]\d\d/.test(output));
}
