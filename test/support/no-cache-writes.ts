import module from 'node:module';

/**
 * vitest setupFiles: at its end, a worker of vitest writes thousands of files of its compile cache, for 4 to 8 seconds in which no test runs.
 * The programs that tests start keep theirs.
 */
module.flushCompileCache = () => undefined;
