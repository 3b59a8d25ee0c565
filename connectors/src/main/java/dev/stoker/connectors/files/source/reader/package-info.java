/**
 * Lists assigned directories and groups the files that they contain into bundles. The reader's methods run on the
 * task's mailbox thread. The threads of {@link dev.stoker.connectors.files.source.reader.ListingPool} access the file
 * system.
 */
package dev.stoker.connectors.files.source.reader;
