/** Whether browser tests open every document and page in every way: `BROWSER_LENGTH=full npm run test:browser`. Otherwise, a slice of them. */
export const isEveryPageOpened = process.env['BROWSER_LENGTH'] === 'full';
