/**
 * WebDataset: tar archives whose consecutive members with one base name are a sample. The extensions are the columns.
 */
package dev.stoker.formats.webdataset;
