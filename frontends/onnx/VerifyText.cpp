// SPDX-License-Identifier: Apache-2.0
// Protobuf reads any bytes as a string and refuses to write them again, long
// after the node they name is forgotten.
#include "frontends/onnx/VerifyText.h"
#include "google/protobuf/descriptor.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/raw_ostream.h"

using google::protobuf::FieldDescriptor, google::protobuf::Message;

namespace halftone::onnx_frontend {
namespace {

bool isUtf8(const std::string &text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

/// Bytes above 127 as \\FF; of a long text its beginning.
std::string escaped(const std::string &text) {
  constexpr size_t kLongest = 60;
  std::string out;
  llvm::raw_string_ostream stream(out);
  llvm::printEscapedString(llvm::StringRef(text).take_front(kLongest), stream);
  return out + (text.size() > kLongest ? "..." : "");
}

class TextScan {
public:
  std::vector<std::string> found;

  void visit(const Message &message, const std::string &place) {
    const auto *reflection = message.GetReflection();
    std::vector<const FieldDescriptor *> fields;
    reflection->ListFields(message, &fields);
    for (const FieldDescriptor *field : fields) {
      bool isText = field->type() == FieldDescriptor::TYPE_STRING;
      if (field->name() == "doc_string" ||
          (!isText && field->type() != FieldDescriptor::TYPE_MESSAGE))
        continue;
      int count =
          field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        std::string scratch;
        if (!isText)
          visit(field->is_repeated()
                    ? reflection->GetRepeatedMessage(message, field, i)
                    : reflection->GetMessage(message, field),
                placeOf(place, *field, i));
        else if (const std::string &text =
                     field->is_repeated()
                         ? reflection->GetRepeatedStringReference(
                               message, field, i, &scratch)
                         : reflection->GetStringReference(message, field,
                                                          &scratch);
                 !isUtf8(text))
          found.push_back(placeOf(place, *field, i) + " '" + escaped(text) +
                          "'");
      }
    }
  }

private:
  static std::string placeOf(const std::string &parent,
                             const FieldDescriptor &field, int i) {
    return parent + (parent.empty() ? "" : ".") + field.name() +
           (field.is_repeated() ? "[" + std::to_string(i) + "]" : "");
  }
};

} // namespace

bool verifyText(const Message &model, DiagnosticLog &log) {
  TextScan scan;
  scan.visit(model, "");
  if (scan.found.empty())
    return true;
  log.error(counted(scan.found.size(), "name") + " in the file " +
            (scan.found.size() == 1 ? "is" : "are") +
            " not valid UTF-8: " + joinNames(scan.found, 10) +
            ". The file is damaged, or a tool wrote it that does not follow "
            "ONNX: export the model again");
  return false;
}

} // namespace halftone::onnx_frontend
