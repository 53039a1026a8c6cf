// Files and folders: read whole, looked for, made and removed. FileWriter (file_writer.h) writes files.
//
//   make_folder("model");
//   if (file_exists("model/config.json")) std::string text = read_file("model/config.json");
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed {

// Returns the whole file. Throws heed::Error naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Makes the folder and its parents, on disk when it returns; no error where it exists. Throws heed::Error naming the
// path and the reason.
void make_folder(const std::filesystem::path& path);

// Puts the names that the folder of `path` holds on disk: a file that is made, renamed or removed is durable only then.
// Does nothing where the file system does not flush folders, or this one may not be read. Throws heed::Error naming the
// folder and the reason.
void sync_folder_of(const std::filesystem::path& path);

// What a file or folder is called while it is collected, beside its place, until it is whole.
std::filesystem::path part_of(const std::filesystem::path& target);

// Whether there is a file or folder. Throws heed::Error where that cannot be told (no permission on a parent folder).
bool file_exists(const std::filesystem::path& path);
// Removes a file; no error where there is none. Throws heed::Error.
void remove_file(const std::filesystem::path& path);
// What lies in a folder, in the order of names. Throws heed::Error naming the folder and the reason.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

}  // namespace heed
