/**
 * The register of running feeds: files in the user's Stoker directory through which trainers and commands find the
 * feeds of a machine. Every reader and writer in Java goes through this package, except the trainer client, which
 * depends on formats only. Normative: {@code docs/formats/feeds.md}. No threads; writes replace files by rename.
 */
package dev.stoker.feeder.registry;
