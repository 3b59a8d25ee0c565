/** Explains a feed from its order alone: which samples a batch has, and which batch has a sample. */
package dev.stoker.metadata.explain;
