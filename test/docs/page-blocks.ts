/** A fenced block of a page. */
export interface Block {
  language: string;
  /** what follows the language: `run` for a program that runs as it is, `follow` for one that runs until it is stopped */
  info: string;
  text: string;
  /** what stands between the block before and this one, without white space around */
  before: string;
}

/** A block of a session, with the output that the page shows for it. */
export interface SessionBlock extends Block {
  /** each a JSON document or text, with `…` for what may differ */
  outputs: string[];
}

export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let end = 0;
  for (const match of page.matchAll(/^```(\w*)([^\n]*)\n(.*?)^```$/gms)) {
    const [whole, language = '', info = '', text = ''] = match;
    blocks.push({ language, info: info.trim(), text, before: page.slice(end, match.index).trim() });
    end = match.index + whole.length;
  }
  return blocks;
}

/** Returns whether a block of the page is what the block before it prints. */
export function isOutput(block: Block, previous: Block | undefined): boolean {
  return block.before === '' && previous?.language === 'sh' && ['json', 'text'].includes(block.language);
}

/**
 * Returns the blocks of a session in their order: shell commands, and programs that run as they are. The output of a block is the block of
 * JSON or text that follows it at once, and comments in it that begin with a JSON document.
 */
export function readSessionBlocks(page: string): SessionBlock[] {
  const blocks = readBlocks(page);
  return blocks.flatMap((block, at) => {
    if (block.language !== 'sh' && block.info !== 'run') return [];
    const next = blocks[at + 1];
    const comments = [...block.text.matchAll(/^# ([[{].*(?:\n# {2,}.*)*)$/gm)].map(([, comment = '']) =>
      comment.replaceAll(/\n# /g, ''),
    );
    return [{ ...block, outputs: next !== undefined && isOutput(next, block) ? [...comments, next.text] : comments }];
  });
}

/** Returns a pattern of an output without its white space; `…` stands for anything. */
export function outputPattern(shown: string): RegExp {
  const parts = shown.replaceAll(/\s/g, '').split(/…,?/);
  return new RegExp(parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*?'));
}

/** Returns whether the block shows that its command fails, as REST and GraphQL tell it. */
export function showsRefusal({ outputs }: SessionBlock): boolean {
  return outputs.some((output) => /"statusCode": ?[45]\d\d/.test(output));
}
