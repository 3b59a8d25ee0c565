/** What the {@code datasets} library of Hugging Face writes about the columns and files of a dataset. */
package dev.stoker.formats.huggingface;
