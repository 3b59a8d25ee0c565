/**
 * Names of files for the keys of samples: one rule for mounts, the Hadoop file system, exports and {@code stoker get}.
 * {@code docs/formats/key-paths.md} is normative. Stateless.
 */
package dev.stoker.schemas.path;
