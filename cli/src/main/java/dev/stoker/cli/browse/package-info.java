/**
 * The web page of {@code stoker browse}: a server on loopback that shows the samples of a dataset, and never runs what
 * is in them. It reads with the readers of {@link dev.stoker.metadata}, opens no file by a name from a request, and
 * answers GET only. The threads of {@link dev.stoker.server.http.PageServer} answer requests; one further thread
 * compares versions.
 */
package dev.stoker.cli.browse;
