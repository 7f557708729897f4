import type { ReviewField, ReviewNote, ReviewPart, SentReview } from '../../../core/sending/sent-review.ts';
import type { ReviewPiece, UnseenKind } from '../../../core/sending/unseen-text.ts';
import { loadSentReviews } from '../../../operations/sending/review-email.ts';
import { builder, enumValues } from '../builder.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode } from '../nodes.ts';

/** Reading a large message takes hundreds of milliseconds. */
const COST = 200;

const UnseenKindRef = builder.enumType('UnseenKind', {
  description: 'Why readers do not see a piece of an email, or not at once.',
  values: enumValues<UnseenKind>({
    hidden: 'It is not displayed.',
    tiny: 'Its letters are too small to be read.',
    same_color: 'It has the color of its background.',
    off_screen: 'It is placed outside what is shown.',
    some_readers: 'Only some mail programs, or some screens, show it.',
    collapsed: 'Mail programs fold it: quotations, signatures, closed details.',
    comment: 'A comment.',
    attribute: 'An attribute, such as the alternative text of an image.',
    code: 'In the head, a style sheet or a script.',
    invisible_characters: 'Characters without a form, such as zero-width spaces.',
    gap: 'A long gap, behind which readers expect nothing.',
  }),
});

const ReviewNoteKind = builder.enumType('EmailReviewNoteKind', {
  description: 'What a person should look at before an email leaves.',
  values: enumValues<ReviewNote['kind']>({
    reply_address: 'Replies go to another address.',
    other_address: 'A field names or shows another address.',
    hidden_recipients: 'Recipients in Bcc.',
    own_field: 'A header field that the sender added.',
    unsubscribe: 'A field of a mailing list, which mail programs can make a button of.',
    text_differs: 'The text and the HTML do not have the same words.',
    file_type: 'Name, type and content of a file do not fit.',
    file_in_text: 'A file within the text.',
    stray_text: 'Text outside the parts.',
    ambiguous: 'Mail programs may read it differently.',
    not_shown: 'Something that cannot be shown.',
  }),
});

const UnseenText = builder.objectRef<NonNullable<ReviewPiece['unseen']>>('UnseenText').implement({
  description: 'Why readers do not see a piece of an email.',
  isOfDomain: true,
  fields: (t) => ({
    kind: t.expose('kind', { type: UnseenKindRef, description: 'The kind of reason.' }),
    detail: t.exposeString('detail', { description: 'What makes it so, such as `display: none`.' }),
  }),
});

const ReviewPieceRef = builder.objectRef<ReviewPiece>('EmailReviewPiece').implement({
  description: 'A piece of the text of a part.',
  isOfDomain: true,
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The text.' }),
    unseen: t.field({
      type: UnseenText,
      nullable: true,
      description: 'Why readers do not see it. Null if they do.',
      resolve: ({ unseen }) => unseen,
    }),
    target: t.exposeString('target', {
      nullable: true,
      description: 'The address that it leads to. Null if it is no link.',
    }),
  }),
});

const ReviewFieldRef = builder.objectRef<ReviewField>('EmailReviewField').implement({
  description: 'A field of the header section of an email.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, as written.' }),
    value: t.exposeString('value', { description: 'Its value, unfolded and decoded.' }),
  }),
});

const ReviewPartRef = builder.objectRef<ReviewPart>('EmailReviewPart').implement({
  description: 'A part of an email as it is sent.',
  isOfDomain: true,
  fields: (t) => ({
    path: t.exposeString('path', {
      nullable: true,
      description: 'As in IMAP: `1`, `2.1`. Null for text outside the parts.',
    }),
    contentType: t.exposeString('contentType', { description: 'Its MIME type.' }),
    disposition: t.exposeString('disposition', {
      nullable: true,
      description: 'Its disposition. Null if it has none.',
    }),
    filename: t.exposeString('filename', { nullable: true, description: 'Its file name. Null if it has none.' }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Decoded size in bytes.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Its decoded text, HTML as source. Null if it is no text.',
    }),
    pieces: t.field({
      type: [ReviewPieceRef],
      description: 'All its text in order, that of HTML without tags, also what is hidden.',
      resolve: ({ pieces }) => [...pieces],
    }),
    isTruncated: t.exposeBoolean('isTruncated', { description: 'Whether its texts are cut.' }),
  }),
});

const ReviewNoteRef = builder.objectRef<ReviewNote>('EmailReviewNote').implement({
  description: 'Something to look at before an email leaves.',
  isOfDomain: true,
  fields: (t) => ({
    kind: t.expose('kind', { type: ReviewNoteKind, description: 'What it is.' }),
    where: t.exposeString('where', { description: 'A field or part.' }),
    detail: t.exposeString('detail', { description: 'What was found.' }),
  }),
});

const SentReviewRef = builder.objectRef<SentReview>('EmailReview').implement({
  description:
    'An outgoing email as it is sent: every field and part of the stored message, with what readers do not see.',
  isOfDomain: true,
  fields: (t) => ({
    fields: t.field({
      type: [ReviewFieldRef],
      description: 'All fields of the header section, in order.',
      resolve: ({ fields }) => [...fields],
    }),
    parts: t.field({ type: [ReviewPartRef], description: 'All parts.', resolve: ({ parts }) => [...parts] }),
    notes: t.field({
      type: [ReviewNoteRef],
      description: 'What a person should look at.',
      resolve: ({ notes }) => [...notes],
    }),
    isTruncated: t.exposeBoolean('isTruncated', {
      description: 'Whether something is cut or left out. Download the message to see all of it.',
    }),
  }),
});

const reviewOf = loadByOwner(({ reads }, emailIds) => loadSentReviews(reads, emailIds));

builder.objectFields(EmailNode, (t) => ({
  review: t.field({
    type: SentReviewRef,
    nullable: true,
    description: 'The email as it is sent, for the person who approves it. Null for received mail.',
    complexity: { field: COST },
    resolve: ({ id, type }, _args, context) => (type === 'received' ? null : reviewOf(context, id, null)),
  }),
}));
